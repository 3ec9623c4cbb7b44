/// A change that a device made to one photo.
struct SimulationEdit {
  /// The file name, another one each time; nil when the photo was deleted.
  var value: String?
  /// How many versions its shard had in the master at that time.
  var versions: Int
  /// The newest line of the device's conflict log at that time.
  var conflict: Int64
  /// The version of the shard that brought it to the master.
  var landed: Int?
  /// It took back a change that had never come to the master, or deleted what the master had not either.
  var isMoot = false
}
