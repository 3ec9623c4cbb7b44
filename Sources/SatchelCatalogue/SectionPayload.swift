import SatchelJSON
import SatchelStorage

/// A section as a backend sent it, its content still untouched.
struct SectionPayload {
  enum Action: String { case replace, edit }

  var name: String
  var displayTitle: String?
  /// JSON text of the config to keep; nil for none.
  var config: String?
  var action: Action
  /// Where the content stands on the tape; nil when there is none.
  var content: Int?
  /// The value of `config` on the tape, for edits.
  var configIndex: Int?

  /// Reads the section at `index` of a tape.
  ///
  /// - Parameter pointer: of the section itself, for errors
  init(_ tape: JSONTape, at index: Int, pointer: String) throws {
    guard tape[index].kind == .object else {
      throw JSONError("a section must be an object", pointer: pointer)
    }
    guard let nameIndex = tape.member("section", of: index) else {
      throw JSONError("a section needs a name, the key \"section\"", pointer: pointer)
    }
    guard tape[nameIndex].kind == .string, tape[nameIndex].start < tape[nameIndex].end else {
      throw JSONError("a section's name must be a text that is not empty", pointer: pointer + "/section")
    }
    name = tape.text(nameIndex)
    if let title = tape.member("display_title", of: index), tape[title].kind != .null {
      guard tape[title].kind == .string else {
        throw JSONError("display_title must be a text", pointer: pointer + "/display_title")
      }
      displayTitle = tape.text(title)
    }
    if let stated = tape.member("config", of: index), tape[stated].kind != .null {
      guard tape[stated].kind == .object else {
        throw JSONError("config must be an object", pointer: pointer + "/config")
      }
      configIndex = stated
      config = String(
        decoding: UnsafeRawBufferPointer(rebasing: tape.bytes[tape.spelling(stated)]), as: UTF8.self)
    }
    action = .replace
    if let stated = tape.member("action", of: index), tape[stated].kind != .null {
      guard tape[stated].kind == .string, let known = Action(rawValue: tape.text(stated)) else {
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

/// What persisting a section did.
public struct Receipt: Sendable, Equatable {
  /// An object that could not be taken as an entity, and why.
  public struct Problem: Sendable, Equatable {
    /// RFC 6901, from the root of what was given.
    public var pointer: String
    public var reason: String
  }

  public var section: String
  /// Variants stored for the first time, or again after they had been pruned.
  public var saved = 0
  /// Variants whose content changed.
  public var updated = 0
  /// Variants that were there already.
  public var reused = 0
  /// Objects that stay in the section because they are no entities.
  public var inline = 0
  public var problems: [Problem] = []
  /// Bytes of content written.
  public var bytes = 0
  /// Bytes of content that were stored already, and were not stored again.
  public var sharedBytes = 0

  /// As it crosses the C boundary.
  public var json: JSONValue {
    [
      "section": .string(section), "saved": .int(Int64(saved)), "updated": .int(Int64(updated)),
      "reused": .int(Int64(reused)), "inline": .int(Int64(inline)),
      "problems": .array(problems.map { ["pointer": .string($0.pointer), "reason": .string($0.reason)] }),
      "bytes": .int(Int64(bytes)), "shared_bytes": .int(Int64(sharedBytes)),
    ]
  }
}
