import SatchelJSON

/// The `_storage` member of an entity.
struct StorageTag: Equatable {
  var entityID: String
  var scope: Scope
  /// In milliseconds.
  var timeToLive: Int64

  static let key: StaticString = "_storage"
  static let defaultHours: Double = 168
  /// One thousand years: long enough for any content, and short enough that an expiry time cannot overflow.
  private static let maxMilliseconds: Double = 1000 * 366 * 24 * 3_600_000

  /// The reason why a tag is malformed, and its location in the tag.
  struct ParseError: Error, Equatable {
    /// The member of the tag; "" for the tag itself.
    var member: String
    var reason: String
  }

  /// Reads the value of a `_storage` member.
  init(_ tape: JSONTape, at index: Int) throws(ParseError) {
    guard tape[index].kind == .object else {
      throw ParseError(member: "", reason: "_storage must be an object")
    }
    guard let id = tape.member("entity_id", of: index) else {
      throw ParseError(member: "", reason: "_storage has no entity_id")
    }
    guard tape[id].kind == .string, tape[id].start < tape[id].end else {
      throw ParseError(member: "entity_id", reason: "entity_id must be a string that is not empty")
    }
    guard let scope = tape.member("scope", of: index) else {
      throw ParseError(member: "", reason: "_storage has no scope")
    }
    guard tape[scope].kind == .string, let known = Scope(name: tape.text(scope)) else {
      throw ParseError(member: "scope", reason: "unknown scope \(tape.brief(scope))")
    }
    var hours = Self.defaultHours
    if let stated = tape.member("ttl_hours", of: index), tape[stated].kind != .null {
      guard tape[stated].kind == .integer || tape[stated].kind == .double,
        let number = Double(tape.text(stated)), number.isFinite
      else {
        throw ParseError(
          member: "ttl_hours", reason: "ttl_hours must be a number of hours, not \(tape.brief(stated))")
      }
      guard number >= 0 else {
        throw ParseError(member: "ttl_hours", reason: "ttl_hours must not be negative: \(number)")
      }
      hours = number
    }
    entityID = tape.text(id)
    self.scope = known
    // Rounded: 2.3 hours are 8,279,999.999… milliseconds, and an edit must read back what it wrote.
    timeToLive = Int64(min((hours * 3_600_000).rounded(), Self.maxMilliseconds))
  }
}

extension JSONTape {
  /// Returns the raw text of a value, truncated for a message.
  func brief(_ index: Int) -> String {
    let text = String(decoding: UnsafeRawBufferPointer(rebasing: bytes[rawRange(index)]), as: UTF8.self)
    return text.count > 40 ? text.prefix(40) + "…" : text
  }
}
