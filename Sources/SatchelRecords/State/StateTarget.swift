/// What a change of state is about: nothing that is done to one bears on another.
struct StateTarget: Hashable, Sendable {
  enum Kind: Hashable, Sendable { case value, list, member, score }

  let kind: Kind
  /// The value's key, or the name of the list, the set or the scores.
  let name: StateName
  /// Of a set: what identifies the member. Of scores: the key.
  let key: StateName?

  static func value(_ key: StateName) -> StateTarget { StateTarget(kind: .value, name: key, key: nil) }
  static func list(_ name: StateName) -> StateTarget { StateTarget(kind: .list, name: name, key: nil) }
  static func member(_ name: StateName, _ identity: ValueIdentity) -> StateTarget {
    StateTarget(kind: .member, name: name, key: StateName(sound: identity.hexadecimal))
  }
  static func score(_ name: StateName, _ key: StateName) -> StateTarget {
    StateTarget(kind: .score, name: name, key: key)
  }

  /// What observers hear.
  var changeKey: String {
    switch kind {
    case .value: "state/\(name.text)"
    case .list: "state/list/\(name.text)"
    case .member: "state/set/\(name.text)"
    case .score: "state/scores/\(name.text)"
    }
  }

  /// Where its row stands in state_value; a list has its items elsewhere.
  var space: String {
    switch kind {
    case .value: StateSpace.values
    case .list: ""
    case .member: StateSpace.members(of: name)
    case .score: StateSpace.scores(of: name)
    }
  }

  var row: String { (key ?? name).text }
}
