import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelSync

/// Synchronized state of story libraries, under names that hosts can neither read nor write:
/// `@stories/{collection}/{part}/{id}`.
///
/// It follows the rules of other state: when it is saved, how it is merged, and that signing out removes it. Observers
/// are notified of changes of stories, with the ids as keys.
package struct ReservedState: Sendable {
  private let state: StateStore
  private let collection: String

  /// - Parameter collection: 1 to `maxCollectionBytes` bytes without a slash or a control character
  package init(_ state: StateStore, collection: String) {
    self.state = state
    self.collection = collection
  }

  /// The maximum size of a collection's name in bytes.
  package static let maxCollectionBytes = 128

  private func id(_ kind: StateID.Kind, _ part: String, of id: String) -> StateID {
    StateID(kind, StateName(reserved: part, of: id, in: collection))
  }

  // MARK: Values

  /// Returns a value, and the time of its last change in Unix milliseconds.
  ///
  /// - Throws: as `StateStore.get(_:)`
  package func value(_ part: String, of id: String) throws -> (value: JSONValue, time: Int64)? {
    try state.checkOpen()
    guard let document = try state.value(self.id(.value, part, of: id)),
      case .value(let value?) = try document.opened(state.keyring.keys)
    else { return nil }
    return (value, document.modified)
  }

  /// Returns the values of a part of the collection, by id.
  package func values(_ part: String) throws -> Values {
    let stored = try values(prefix: StateName.reservedPrefix(part, in: collection))
    return Values(stored) { StateName(reserved: part, of: $0, in: collection) }
  }

  /// Returns the values of all parts of the collection whose names begin with a text.
  package func all(_ start: String) throws -> [JSONValue] {
    let prefix = StateName.reservedPrefix(start, in: collection).dropLast()
    return Array(try values(prefix: String(prefix)).values)
  }

  private func values(prefix: String) throws -> [StateName: JSONValue] {
    try state.checkOpen()
    let changes = state.saver.values(prefix: prefix)
    return try state.read(changes) { reader, unsaved in
      var stored = try reader?.values(prefix: prefix) ?? [:]
      for operation in unsaved {
        stored[operation.id.name] = operation.action.value(after: nil)
      }
      return stored
    }
  }

  /// The values of a part of a collection.
  package struct Values: Sendable {
    private var values: [StateName: JSONValue] = [:]
    /// The values whose name has a digest, by the name.
    private var digests: [StateName: JSONValue] = [:]
    private let name: @Sendable (_ id: String) -> StateName

    fileprivate init(_ stored: [StateName: JSONValue], name: @escaping @Sendable (_ id: String) -> StateName)
    {
      self.name = name
      for (name, value) in stored {
        if let id = name.reservedID { values[StateName(sound: id)] = value } else { digests[name] = value }
      }
    }

    package var isEmpty: Bool { values.isEmpty && digests.isEmpty }

    package subscript(id: String) -> JSONValue? {
      values[StateName(sound: id)] ?? (digests.isEmpty ? nil : digests[name(id)])
    }
  }

  /// Differs from an earlier one when state may have changed since.
  package struct Version: Equatable, Sendable {
    /// The newest change of this handle.
    fileprivate var change: Int64
    /// The newest commit.
    fileprivate var revision: Int64
  }

  /// Returns the version of all state, to be read before the state is; nil inside a transaction, which sees more.
  package func version() throws -> Version? {
    try state.checkOpen()
    let (database, change) = (state.database, state.saver.newestChange)
    if database.isInTransaction { return nil }
    return Version(change: change, revision: try database.read { try ChangeLog.newest($0) })
  }

  /// Sets a value.
  ///
  /// - Throws: as `StateStore.set(_:_:sensitive:synced:)`
  package func set(_ part: String, of id: String, to value: JSONValue) throws {
    try state.set(self.id(.value, part, of: id), value, synced: true)
  }

  /// Removes a value.
  package func remove(_ part: String, of id: String) throws {
    try state.add(StateTarget(id: self.id(.value, part, of: id)), .remove)
  }

  /// Saves changes now; inside a transaction or a batch, which they are not a part of, they are saved later.
  ///
  /// - Throws: as `StateStore.flush()`
  package func save() throws {
    let database = state.database
    guard !database.isInTransaction, (try? database.refuseDuringOtherBatch()) != nil else { return }
    try state.flush()
  }

  // MARK: Lists

  /// Returns a list without limits, of which equal items are one. It is synchronized from its first item on.
  package func list(_ part: String, of id: String) -> StateList {
    let bounds = StateBounds(isUnique: true)
    return StateList(
      state: state, id: self.id(.list, part, of: id), bounds: bounds,
      mark: StateMark(isSynced: true, bounds: bounds))
  }
}

// MARK: - Names

extension StateName {
  /// The prefix of reserved names, and the first text that is greater than all of them.
  static let (reserved, afterReserved) = ("@stories/", "@stories0")

  /// Whether the name is reserved: see `ReservedState`.
  var isReserved: Bool { text.utf8.starts(with: Self.reserved.utf8) }

  /// Creates the name that a host gave.
  ///
  /// - Throws: `.invalid`, also for a reserved name
  init(ofHost text: String, as role: String) throws {
    try self.init(text, as: role)
    guard !isReserved else {
      throw SatchelError(
        .invalid,
        "\(role): “\(text)” is reserved: names that begin with “\(Self.reserved)” are those of story libraries"
      ).at(subject: Change.Subject.state.rawValue)
    }
  }

  fileprivate static func reservedPrefix(_ part: String, in collection: String) -> String {
    "\(reserved)\(collection)/\(part)/"
  }

  /// Creates a reserved name: with a digest in place of an id that the sync log would not accept.
  fileprivate init(reserved part: String, of id: String, in collection: String) {
    let prefix = Self.reservedPrefix(part, in: collection)
    // An id has no slash, so that the two forms differ.
    let digest = { "/\(Array(SHA256.digest(Array(id.utf8)).prefix(20)).hexadecimal)" }
    self.init(sound: prefix + (SyncKey.isID("value/\(prefix)\(id)") ? id : digest()))
  }

  /// The id in a reserved name; nil for a digest.
  fileprivate var reservedID: String? {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4, let first = parts[3].first, first != UInt8(ascii: "/") else { return nil }
    return String(decoding: parts[3], as: UTF8.self)
  }
}

extension Transaction {
  /// The maximum number of stories in a change; with more, observers are notified of `*`.
  private static let maxKeys = 1000

  /// Records the changes of state, of which observers are notified.
  func note(_ changed: [StateID]) {
    let own = changed.filter { !$0.name.isReserved }
    if !own.isEmpty { note(subject: .state, keys: own.map(\.text)) }
    let stories = Set(
      changed.map(\.name).filter(\.isReserved).map { $0.reservedID.map(StateName.init(sound:)) })
    guard !stories.isEmpty else { return }
    let isListed = stories.count <= Self.maxKeys && !stories.contains(nil)
    note(subject: .stories, keys: isListed ? stories.compactMap(\.self).ordered().map(\.text) : ["*"])
  }
}
