import SatchelCore
import SatchelDocuments
import SatchelJSON
import SatchelStorage

/// One value, list, set or table of scores as the store has it: a document of the collection `@state`, under the id.
///
/// `{"synced", "limit", "max_age", "unique", "minimum", "maximum", "removed", "sensitive", "waiting",
/// "value" | "items" | "members" | "scores"}`, each only where it says something. Of sensitive state the last member is
/// a string, the sealed text of the member, and the record is marked as sealed.
struct StateDocument: Equatable, Sendable {
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

  private var isSealed: Bool {
    if case .sealed = content { return true }
    return isSensitive
  }

  /// The name of the key that sealed the content; nil for plain content, and where it is damaged.
  var keyName: [UInt8]? {
    if case .sealed(let bytes) = content { return SealedValue.keyName(of: bytes) }
    return nil
  }

  // MARK: Sealing

  /// Is authenticated together with the content: it cannot be opened in another document.
  static func context(_ id: StateID) -> String { "state/\(id.text)" }

  /// Returns the content, which is opened if it is sealed.
  ///
  /// - Throws: `.unauthorized` when its key is not set, `.damaged`
  func opened(_ keys: Keyring.Keys) throws -> StateContent {
    // An empty list as well: nothing is said about sensitive content without the key.
    if isSensitive, keys.isEmpty { throw SatchelError.keyNotSet(id.location) }
    switch content {
    case .plain(let content): return content
    case .sealed(let bytes):
      let text = try SealedValue.open(bytes, by: keys, at: id.location, sealedAt: Self.context(id))
      let opened = StateContent(id.kind, try StateStore.value(of: text, at: id.location))
      guard var opened else {
        throw SatchelError(
          .damaged, "\(id.location): its sealed content is not that of a \(id.kind.rawValue)")
      }
      limitTimes(of: &opened)
      return opened
    }
  }

  /// The text of content that is to be sealed.
  static func text(of content: StateContent, _ id: StateID) throws -> [UInt8] {
    try (try content.json(at: id.location) ?? .null).serialized()
  }

  /// Items have no times after the last change, unless the clock was ahead: then the time of the record was corrected.
  private func limitTimes(of content: inout StateContent) {
    guard case .list(var list) = content, let newest = list.items.first, newest.time > modified else {
      return
    }
    list.limitTimes(to: modified)
    content = .list(list)
  }

  /// The time of the newest element of its content; 0 for none.
  func newestTime(_ content: StateContent) -> Int64 {
    if case .list(let list) = content { return list.items.first?.time ?? 0 }
    return content.isEmpty ? 0 : modified
  }

  /// Sets content that is not sealed, and the time of the change.
  mutating func set(_ new: StateContent, at time: Int64) {
    content = .plain(new)
    modified = min(max(time, 0), StoreClock.latest)
    if case .list(let list) = new { modified = max(modified, list.items.first?.time ?? 0) }
    if hasContent { isRemoved = false }
  }
}

// MARK: - As it is stored

extension StateDocument {
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
    let json = JSONValue.object(members)
    if let synced = members["synced"] {
      guard let isSynced = synced.boolValue else {
        throw JSONError("must be true or false", pointer: "/synced")
      }
      mark = StateMark(isSynced: isSynced, bounds: isSynced ? try bounds(json) : nil)
    }
    isRemoved = members["removed"] == true
    isSensitive = members["sensitive"] == true
    waiting = members["waiting"]?.arrayValue ?? []
    guard isSealed || id.kind == .value || !isSensitive else {
      throw JSONError("is sensitive, and not sealed", pointer: "/sensitive")
    }
    let member = StateContent.member(id.kind)
    guard let stored = members[member] else { return }
    guard isSealed else {
      guard var content = StateContent(id.kind, stored) else {
        throw JSONError("is not the content of a \(id.kind.rawValue)", pointer: "/\(member)")
      }
      limitTimes(of: &content)
      self.content = .plain(content)
      return
    }
    guard case .string(var text) = stored,
      let bytes = text.withUTF8({ Base64.decoded(UnsafeRawBufferPointer($0)) })
    else { throw JSONError("is not sealed", pointer: "/\(member)") }
    content = .sealed(bytes)
  }

  private func bounds(_ json: JSONValue) throws -> StateBounds? {
    switch id.kind {
    case .value, .set: return nil
    case .scores where json["minimum"] == nil && json["maximum"] == nil: return nil
    case .list, .scores:
      guard let bounds = StateBounds(json, of: id.kind) else {
        throw JSONError("its bounds are damaged", pointer: "")
      }
      return bounds
    }
  }

  /// Returns the document as it is stored.
  ///
  /// - Parameter key: seals sensitive content
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
    case .plain(let content):
      if content.isEmpty { break }
      guard let key, isSensitive else {
        object[member] = try content.json(at: id.location)
        break
      }
      let text = try Self.text(of: content, id)
      object[member] = Self.string(SealedValue.seal(text, by: key, at: Self.context(id)))
    case .sealed(let bytes): object[member] = Self.string(bytes)
    }
    return ReservedDocument(
      modified: modified, isSealed: isSealed,
      body: try JSONValue.object(object).serialized())
  }

  private static func string(_ sealed: [UInt8]) -> JSONValue {
    var text: [UInt8] = []
    Base64.append(sealed, to: &text)
    return .string(String(decoding: text, as: UTF8.self))
  }
}
