@testable import Satchel
@testable import SatchelCore
@testable import SatchelStorage

extension Store {
  /// What the values of all tables can be.
  static var allRules: StoredRules { subjects.reduce(rules) { $0.merging($1.rules) } }
}
