import SatchelCore
import SatchelJSON
import SatchelStorage

/// The members of a delivered section; its content is not yet parsed.
struct SectionPayload {
  var name: String
  var displayTitle: String?
  /// The JSON text of the config to store; nil for none.
  var config: String?
  /// The JSON text of an object with the members that the library does not know; nil for none.
  var extra: String?
  var action: SectionAction
  /// The time to live of the content without `_storage`, in milliseconds; nil for none.
  var timeToLive: Int64?
  /// The index of the content on the tape; nil for a section without content.
  var content: Int?
  /// The index of the value of `config` on the tape, for edits.
  var configIndex: Int?

  /// Reads the section at `index` of a tape.
  ///
  /// - Parameter pointer: the section's pointer, for errors
  init(_ tape: JSONTape, at index: Int, pointer: String) throws {
    guard tape[index].kind == .object else {
      throw JSONError("a section must be an object", pointer: pointer)
    }
    guard let nameIndex = tape.member("section", of: index) else {
      throw JSONError("a section needs a name, the key \"section\"", pointer: pointer)
    }
    guard tape[nameIndex].kind == .string, tape[nameIndex].start < tape[nameIndex].end else {
      throw JSONError("a section's name must be a string that is not empty", pointer: pointer + "/section")
    }
    name = tape.text(nameIndex)
    for key in ["display_title", "displayTitle"] as [StaticString] where displayTitle == nil {
      guard let title = tape.member(key, of: index), tape[title].kind != .null else { continue }
      guard tape[title].kind == .string else {
        throw JSONError("\(key) must be a string", pointer: pointer + "/\(key)")
      }
      displayTitle = tape.text(title)
    }
    extra = Self.extra(tape, of: index)
    if let stated = tape.member("config", of: index), tape[stated].kind != .null {
      guard tape[stated].kind == .object else {
        throw JSONError("config must be an object", pointer: pointer + "/config")
      }
      configIndex = stated
      config = String(
        decoding: UnsafeRawBufferPointer(rebasing: tape.bytes[tape.rawRange(stated)]), as: UTF8.self)
    }
    if let stated = tape.member("ttl_hours", of: index) {
      do throws(StorageTag.ParseError) {
        timeToLive = try StorageTag.timeToLive(tape, at: stated)
      } catch {
        throw JSONError(error.reason, pointer: pointer + "/ttl_hours")
      }
    }
    action = .replace
    if let stated = tape.member("action", of: index), tape[stated].kind != .null {
      guard tape[stated].kind == .string, let known = SectionAction(rawValue: tape.text(stated)) else {
        throw JSONError("unknown action \(tape.brief(stated))", pointer: pointer + "/action")
      }
      action = known
    }
    content = tape.member("content", of: index)
    if content == nil, action == .replace {
      throw JSONError("a section to replace needs content", pointer: pointer)
    }
  }
}

extension SectionPayload {
  private static let known: [StaticString] = [
    "section", "display_title", "displayTitle", "config", "action", "content", "ttl_hours",
  ]

  /// Returns the JSON text of an object with the members that are not known; nil for none.
  private static func extra(_ tape: JSONTape, of index: Int) -> String? {
    var text: [UInt8] = []
    for child in tape.children(of: index) where !known.contains(where: { tape.keyEquals(child, $0) }) {
      text.append(UInt8(ascii: text.isEmpty ? "{" : ","))
      tape.copy(child - 1, to: &text)
      text.append(UInt8(ascii: ":"))
      tape.copy(child, to: &text)
    }
    return text.isEmpty ? nil : String(decoding: text, as: UTF8.self) + "}"
  }
}

/// The counts of what persisting a section stored, and the problems that it found.
public struct Receipt: Sendable, Equatable, JSONConvertible {
  /// An object that could not be stored as an entity, and the reason.
  public struct Problem: Sendable, Equatable {
    /// The JSON Pointer (RFC 6901) of the object or member, from the root of the given document.
    public var pointer: String
    public var reason: String
  }

  public var section: String
  /// The number of variants stored for the first time, or again after they were pruned.
  public var saved = 0
  /// The number of variants whose content changed.
  public var updated = 0
  /// The number of variants that were already stored.
  public var reused = 0
  /// The number of objects that stay in the section because they are not entities.
  public var inline = 0
  /// The ids of entities that the section referred to before, and does not any more.
  public var detached: [String] = []
  public var problems: [Problem] = []
  /// The size of the written content in bytes.
  public var bytes = 0
  /// The size in bytes of content that was already stored and therefore not written.
  public var sharedBytes = 0

  /// The JSON object that the C interface returns.
  public var json: JSONValue {
    [
      "section": .string(section), "saved": .int(Int64(saved)), "updated": .int(Int64(updated)),
      "reused": .int(Int64(reused)), "inline": .int(Int64(inline)),
      "detached": .array(detached.map { .string($0) }),
      "problems": .array(problems.map { ["pointer": .string($0.pointer), "reason": .string($0.reason)] }),
      "bytes": .int(Int64(bytes)), "shared_bytes": .int(Int64(sharedBytes)),
    ]
  }
}

/// Compares content with placeholders as JSON values: the order of members and the encodings of strings and
/// numbers are ignored.
enum ContentEquality {
  /// Returns whether both are the same, with the same targets in the same positions. Invalid JSON, of a damaged
  /// file, is equal to nothing.
  static func equal<Target: Equatable>(
    _ one: UnsafeRawBufferPointer, placeholders: [Template<Target>.Placeholder],
    _ other: UnsafeRawBufferPointer, otherPlaceholders: [Template<Target>.Placeholder]
  ) -> Bool {
    guard placeholders.count == otherPlaceholders.count, let tape = try? JSONTape(one),
      let otherTape = try? JSONTape(other)
    else { return false }
    guard !placeholders.isEmpty else { return JSONTape.equal(tape, otherTape) }
    let (targets, otherTargets) = (targets(placeholders), targets(otherPlaceholders))
    return JSONTape.equal(tape, otherTape) { offset, otherOffset in
      switch (targets[offset], otherTargets[otherOffset]) {
      case (nil, nil): nil
      case (let target, let otherTarget): target == otherTarget
      }
    }
  }

  private static func targets<Target>(_ placeholders: [Template<Target>.Placeholder]) -> [Int: Target] {
    Dictionary(placeholders.map { ($0.offset, $0.target) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns whether two JSON texts have the same value; nil is equal to nil only.
  static func equal(_ one: String?, _ other: String?) -> Bool {
    guard var one, var other else { return one == nil && other == nil }
    if one.hasSameBytes(as: other) { return true }
    return one.withUTF8 { one in
      other.withUTF8 { other in
        equal(
          UnsafeRawBufferPointer(one), placeholders: [Template<Int>.Placeholder](),
          UnsafeRawBufferPointer(other), otherPlaceholders: [])
      }
    }
  }
}

extension Template where Target == SectionTarget {
  /// Returns whether another template has the same value, with the same entities.
  func isEqual(to other: Template) -> Bool {
    func split(_ template: Template) -> (direct: [Placeholder], nested: [Int64: Int]) {
      var nested: [Int64: Int] = [:]
      for placeholder in template.placeholders where placeholder.offset == PlaceholderCoding.nested {
        nested[placeholder.target.entity] = placeholder.target.scope.rawValue
      }
      return (template.placeholders.filter { $0.offset != PlaceholderCoding.nested }, nested)
    }
    let (mine, others) = (split(self), split(other))
    guard mine.nested == others.nested else { return false }
    return bytes.withUnsafeBytes { bytes in
      other.bytes.withUnsafeBytes {
        ContentEquality.equal(
          bytes, placeholders: mine.direct, $0, otherPlaceholders: others.direct)
      }
    }
  }
}
