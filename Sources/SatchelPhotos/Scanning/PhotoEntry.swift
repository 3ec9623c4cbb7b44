/// A file that is a photo by its name, as the walk found it.
struct PhotoEntry: Sendable, Equatable {
  /// A number of the `PhotoTree`.
  var directory: Int
  /// As it stands on disk: names in other normal forms are other names.
  var name: String
  var size: Int64
  /// Unix nanoseconds.
  var modified: Int64
}
