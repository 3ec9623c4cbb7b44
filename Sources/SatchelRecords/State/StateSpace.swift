/// The spaces of the table state_value.
enum StateSpace {
  /// Values by their keys.
  static let values = "value"

  /// Prefixes of the spaces of sets and of scores.
  static let (sets, scores) = ("set/", "scores/")

  /// The members of a set, by what identifies them.
  static func members(of name: StateName) -> String { sets + name.text }

  /// Scores by their keys.
  static func scores(of name: StateName) -> String { scores + name.text }
}
