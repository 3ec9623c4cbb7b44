import SatchelCore
import SatchelStorage
import SatchelSync

/// The kind and name of a value, a list, a set or scores; compared by bytes.
struct StateID: Hashable, Sendable {
  let kind: Change.StateKey.Kind
  let name: StateName

  init(_ kind: Change.StateKey.Kind, _ name: StateName) {
    self.kind = kind
    self.name = name
  }

  /// - Parameter text: `{kind}/{name}`; nil is returned for any other string
  init?(_ text: String) {
    // By bytes, not characters: a combining mark may follow the slash.
    let bytes = text.utf8
    guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")),
      let kind = Change.StateKey.Kind(rawValue: String(text[..<slash])),
      let name = try? StateName(String(text[bytes.index(after: slash)...]), as: "name")
    else { return nil }
    self.init(kind, name)
  }

  /// `{kind}/{name}`: the key in the change log and in the JSON of the C interface, and the id in the sync
  /// log.
  var text: String { "\(kind.rawValue)/\(name.text)" }

  /// The location for messages.
  var location: String { kind == .value ? "state/\(name.text)" : "state/\(text)" }

  /// Where it is, for errors.
  var details: SatchelError.Details {
    SatchelError.Details(
      subject: Change.Subject.state.rawValue, collection: kind.rawValue, id: name.text)
  }

  /// The key in the sync log; nil for a name that cannot be synchronized.
  var syncKey: SyncKey? { try? SyncKey(SyncKey.state, text) }
}

/// Whether a value, a list, a set or scores are synchronized.
struct StateMark: Equatable, Sendable {
  let isSynced: Bool
  /// The bounds that merging applies; nil for a value, a set, and unsynchronized state.
  let bounds: StateBounds?

  init(isSynced: Bool, bounds: StateBounds? = nil) {
    self.isSynced = isSynced
    self.bounds = isSynced ? bounds : nil
  }

  /// Returns the mark that a host requests; nil when it does not change the mark.
  ///
  /// - Throws: `SatchelError` `.invalid` for a name that cannot be synchronized
  static func requested(_ isSynced: Bool?, of id: StateID, bounds: StateBounds? = nil) throws -> StateMark? {
    guard let isSynced else { return nil }
    guard !isSynced || SyncKey.isID(id.text) else {
      let limit = 254 - id.kind.rawValue.utf8.count
      throw SatchelError(
        .invalid,
        "\(id.location): cannot be synchronized: has more than \(limit) bytes, or a control character"
      ).at(id.details).at(limit: limit)
    }
    return StateMark(isSynced: isSynced, bounds: bounds)
  }
}
