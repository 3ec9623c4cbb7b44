import SatchelJSON

/// What a backend says of an entity in its `_storage`.
struct StorageTag: Equatable {
  var entityID: String
  var scope: Scope
  /// Milliseconds.
  var timeToLive: Int64

  static let key: StaticString = "_storage"
  static let defaultHours: Double = 168
  /// Content may be kept for a thousand years, which is for ever, and cannot overflow a time.
  private static let mostMilliseconds: Double = 1000 * 366 * 24 * 3_600_000

  /// Why an object with this tag is no entity, and where in the tag.
  struct Flaw: Error, Equatable {
    /// Member of the tag, "" for the tag itself.
    var member: String
    var reason: String
  }

  /// Reads the value of a `_storage` member.
  init(_ tape: JSONTape, at index: Int) throws(Flaw) {
    guard tape[index].kind == .object else { throw Flaw(member: "", reason: "_storage is no object") }
    guard let id = tape.member("entity_id", of: index) else {
      throw Flaw(member: "", reason: "_storage has no entity_id")
    }
    guard tape[id].kind == .string, tape[id].start < tape[id].end else {
      throw Flaw(member: "entity_id", reason: "entity_id is no text, or empty")
    }
    guard let scope = tape.member("scope", of: index) else {
      throw Flaw(member: "", reason: "_storage has no scope")
    }
    guard tape[scope].kind == .string, let known = Scope(name: tape.text(scope)) else {
      throw Flaw(member: "scope", reason: "unknown scope \(tape.brief(scope))")
    }
    var hours = Self.defaultHours
    if let stated = tape.member("ttl_hours", of: index) {
      guard tape[stated].kind == .integer || tape[stated].kind == .double,
        let number = Double(tape.text(stated)), number.isFinite
      else { throw Flaw(member: "ttl_hours", reason: "ttl_hours is no number: \(tape.brief(stated))") }
      guard number >= 0 else { throw Flaw(member: "ttl_hours", reason: "ttl_hours is negative: \(number)") }
      hours = number
    }
    entityID = tape.text(id)
    self.scope = known
    // Rounded: 2.3 hours are 8,279,999.999… milliseconds, and an edit must read back what it wrote.
    timeToLive = Int64(min((hours * 3_600_000).rounded(), Self.mostMilliseconds))
  }
}

extension JSONTape {
  /// A value's spelling, short enough for a message.
  func brief(_ index: Int) -> String {
    let text = String(decoding: UnsafeRawBufferPointer(rebasing: bytes[spelling(index)]), as: UTF8.self)
    return text.count > 40 ? text.prefix(40) + "…" : text
  }
}
