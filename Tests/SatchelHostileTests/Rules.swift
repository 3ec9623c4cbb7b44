@testable import Satchel
@testable import SatchelCore
@testable import SatchelStorage

extension Store {
  /// The valid values of all tables.
  static var allRules: StoredRules { subjects.reduce(rules) { $0.merging($1.rules) } }
}
