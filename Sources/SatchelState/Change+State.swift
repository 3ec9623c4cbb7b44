import SatchelStorage

extension Change {
  /// A changed value, list, set or scores of state.
  public struct StateKey: Hashable, Sendable {
    public enum Kind: String, Sendable, CaseIterable { case value, list, set, scores }

    public var kind: Kind
    /// The value's key, or the name of the list, the set or the scores.
    public var name: String

    public init(_ kind: Kind, _ name: String) {
      self.kind = kind
      self.name = name
    }
  }

  /// The changed state; empty for changes of other subjects, for events, and with `concernsAll`.
  public var state: [StateKey] {
    keys(of: .state).compactMap { key in
      // By bytes, not characters: a combining mark may follow the slash.
      let bytes = key.utf8
      guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")),
        let kind = StateKey.Kind(rawValue: String(key[..<slash]))
      else { return nil }
      return StateKey(kind, String(key[bytes.index(after: slash)...]))
    }
  }
}
