/// The spaces of the table state_value.
enum StateSpace {
  /// Values by their keys.
  static let values = "value"

  /// The members of a set, by what identifies them.
  static func members(of name: StateName) -> String { "set/\(name.text)" }

  /// Scores by their keys.
  static func scores(of name: StateName) -> String { "scores/\(name.text)" }
}
