import SatchelStorage

extension Change {
  /// The ids of the changed stories; empty for changes of other subjects, and with `concernsAll`.
  public var stories: [String] { keys(of: .stories) }
}
