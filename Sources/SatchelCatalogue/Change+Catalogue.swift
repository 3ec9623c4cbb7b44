import SatchelStorage

extension Change {
  /// The names of the changed sections; empty for changes of other subjects, and with `concernsAll`.
  public var sections: [String] { Array(keys(of: .catalogue).prefix(sectionCount)) }

  /// The ids of the changed entities; empty for changes of other subjects, and with `concernsAll`.
  public var entities: [String] { Array(keys(of: .catalogue).dropFirst(sectionCount)) }
}
