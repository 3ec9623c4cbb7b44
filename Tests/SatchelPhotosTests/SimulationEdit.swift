/// A change that a device made to one photo.
struct SimulationEdit {
  /// The file name, which is unique; nil when the photo was deleted.
  var value: String?
  /// How many versions its shard had in the remote at that time.
  var versions: Int
  /// The newest conflict of the device's log at that time.
  var conflict: Int64
  /// The version of the shard that contained it first.
  var landed: Int?
  /// Whether it reverted a change that had never reached the remote, or deleted a photo that the remote did not have.
  var isMoot = false
}
