import SatchelCore
import SatchelDocuments
import SatchelJSON
import SatchelStorage

/// One value, list, set or table of scores as the store has it: a document of the collection `@state`, under the id.
///
/// `{"synced", "limit", "max_age", "unique", "minimum", "maximum", "removed", "sensitive", "waiting",
/// "value" | "items" | "members" | "scores"}`, each only where it says something. Of sensitive state the last member is
/// a string, the sealed text of the member, and the record is marked as sealed.
struct StateDocument: Sendable {
  enum Content: Equatable, Sendable {
    case plain(StateContent)
    case sealed([UInt8])
  }

  let id: StateID
  /// Nil where it was never decided whether it is synchronized.
  var mark: StateMark?
  /// Whether the value was removed, at the time `modified`; only where a mark is kept.
  var isRemoved = false
  /// Whether content is stored sealed. A value is sealed or not each time it is set.
  var isSensitive = false
  /// Changes that were saved without the key that they need, in their form in the outbox file.
  var waiting: [JSONValue] = []
  var content: Content
  /// The time of the last change, not before that of the newest item of a list, in Unix milliseconds.
  var modified: Int64 = 0

  /// State that the store has nothing of.
  init(_ id: StateID) {
    self.id = id
    content = .plain(StateContent(id.kind))
  }

  /// Whether there is a value, or are items, members or scores.
  var hasContent: Bool {
    switch content {
    case .plain(let content): !content.isEmpty
    case .sealed: true
    }
  }

  /// Whether the document says nothing, and is not stored.
  var isVoid: Bool { !hasContent && mark == nil && !isSensitive && waiting.isEmpty }

  var isSealed: Bool {
    if case .sealed = content { true } else { false }
  }

  /// The name of the key that sealed the content; nil for plain content, and where it is damaged.
  var keyName: [UInt8]? {
    if case .sealed(let bytes) = content { SealedValue.keyName(of: bytes) } else { nil }
  }

  // MARK: Sealing

  /// Returns the bytes of sealed content. They are authenticated together with the id: they cannot be opened in another
  /// document.
  static func sealed(_ content: StateContent, of id: StateID, by key: EncryptionKey) throws -> [UInt8] {
    SealedValue.seal(try (content.json ?? .null).serialized(), by: key, at: "state/\(id.text)")
  }

  /// Returns the content, which is opened if it is sealed.
  ///
  /// - Throws: `.unauthorized` when its key is not set, `.damaged`
  func opened(_ keys: Keyring.Keys) throws -> StateContent {
    // An empty list as well: nothing is said about sensitive content without the key.
    if isSensitive, keys.isEmpty { throw SatchelError.keyNotSet(id.location) }
    switch content {
    case .plain(let content): return content
    case .sealed(let bytes):
      let text = try SealedValue.open(bytes, by: keys, at: id.location, sealedAt: "state/\(id.text)")
      guard let json = try? JSONValue(parsing: text), let opened = StateContent(id.kind, json) else {
        throw SatchelError(
          .damaged, "\(id.location): its sealed content is not that of a \(id.kind.rawValue)")
      }
      return credible(opened)
    }
  }

  /// Items have no times after the last change, unless the clock was ahead: then the time of the record was corrected.
  private func credible(_ content: StateContent) -> StateContent {
    guard case .list(var items) = content, let newest = items.first, newest.time > modified else {
      return content
    }
    items.limitTimes(to: modified) { $0 > modified }
    return .list(items)
  }

  /// The time of the newest element of its content; 0 for none.
  func newestTime(_ content: StateContent) -> Int64 {
    if case .list(let items) = content { return items.first?.time ?? 0 }
    return content.isEmpty ? 0 : modified
  }

  // MARK: Changes

  /// Sets content that is not sealed, and the time of the change.
  mutating func set(_ new: StateContent, at time: Int64) {
    content = .plain(new)
    didChange(at: time)
  }

  private mutating func didChange(at time: Int64) {
    modified = min(max(time, 0), StoreClock.latest)
    if case .plain(.list(let items)) = content { modified = max(modified, items.first?.time ?? 0) }
    if hasContent { isRemoved = false }
  }

  /// Applies a change to content that is plain, or is replaced.
  mutating func apply(_ operation: StateOperation) {
    switch operation.action {
    case .seal(let bytes): content = .sealed(bytes)
    case .remove where id.kind == .value:
      content = .plain(.value(nil))
      isRemoved = mark != nil
    default:
      if operation.replacesContent { content = .plain(StateContent(id.kind)) }
      guard case .plain(var plain) = content else { return }
      // Released, so that elements are changed in place.
      content = .plain(.value(nil))
      plain.apply(operation)
      content = .plain(plain)
    }
    didChange(at: operation.time)
  }

  // MARK: As it is stored

  /// - Throws: `.damaged` for a document that this library cannot have written
  init(_ stored: ReservedDocument, of id: StateID) throws {
    self.init(id)
    modified = stored.modified
    do {
      guard case .object(let members) = try JSONValue(parsing: stored.body) else {
        throw JSONError("is not an object", pointer: "")
      }
      try read(members, isSealed: stored.isSealed)
    } catch let error as JSONError {
      throw SatchelError(.damaged, "\(id.location): its document is damaged: \(error)", underlying: error)
    }
  }

  private mutating func read(_ members: JSONObject, isSealed: Bool) throws {
    if let synced = members["synced"] {
      guard let isSynced = synced.boolValue else {
        throw JSONError("must be true or false", pointer: "/synced")
      }
      mark = StateMark(isSynced: isSynced, bounds: isSynced ? try bounds(members) : nil)
    }
    isRemoved = members["removed"] == true
    isSensitive = members["sensitive"] == true
    waiting = members["waiting"]?.arrayValue ?? []
    guard isSealed || id.kind == .value || !isSensitive else {
      throw JSONError("is sensitive, and not sealed", pointer: "/sensitive")
    }
    let member = StateContent.member(id.kind)
    guard let stored = members[member] else { return }
    if isSealed {
      guard let bytes = stored.base64Value else { throw JSONError("is not sealed", pointer: "/\(member)") }
      content = .sealed(bytes)
    } else {
      guard let plain = StateContent(id.kind, stored) else {
        throw JSONError("is not the content of a \(id.kind.rawValue)", pointer: "/\(member)")
      }
      content = .plain(credible(plain))
    }
  }

  private func bounds(_ members: JSONObject) throws -> StateBounds? {
    if let bounds = StateBounds(.object(members), of: id.kind) { return bounds }
    let hasNone = id.kind != .list && members["minimum"] == nil && members["maximum"] == nil
    guard hasNone || id.kind == .value || id.kind == .set else {
      throw JSONError("its bounds are damaged", pointer: "")
    }
    return nil
  }

  /// Returns the document as it is stored.
  ///
  /// - Parameter key: seals content that is not sealed yet; nil where it is not to be
  func stored(sealedBy key: EncryptionKey?) throws -> ReservedDocument {
    var object = JSONObject()
    if let mark {
      object["synced"] = .bool(mark.isSynced)
      mark.bounds?.write(into: &object)
    }
    if isRemoved { object["removed"] = true }
    if isSensitive { object["sensitive"] = true }
    if !waiting.isEmpty { object["waiting"] = .array(waiting) }
    let member = StateContent.member(id.kind)
    switch content {
    case .plain(let content) where content.isEmpty: break
    case .plain(let content):
      object[member] = try key.map { .base64(try Self.sealed(content, of: id, by: $0)) } ?? content.json
    case .sealed(let bytes): object[member] = .base64(bytes)
    }
    return ReservedDocument(
      modified: modified, isSealed: isSealed || isSensitive, body: try JSONValue.object(object).serialized())
  }
}
