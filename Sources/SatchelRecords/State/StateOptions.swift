/// When changes of state are saved.
public struct StateOptions: Equatable, Sendable {
  /// How long nothing must have changed before a save, in milliseconds.
  public var quiet: Int
  /// How many changes are saved at once.
  public var batch: Int
  /// The longest that a change waits, in milliseconds.
  public var age: Int

  /// - Parameters: of 0 and less, the usual: 2 s of quiet, 10 changes, 5 s of age
  public init(quiet: Int = 0, batch: Int = 0, age: Int = 0) {
    self.quiet = quiet > 0 ? quiet : 2000
    self.batch = batch > 0 ? batch : 10
    self.age = age > 0 ? age : 5000
  }
}
