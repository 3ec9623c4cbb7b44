import SatchelJSON

/// What a step of a migration found and replaced, for the way back.
public struct KeptValue: Sendable, Equatable {
  /// Index of the step in its list.
  public let step: Int
  /// Where in the document.
  public let pointer: String
  /// What stood there; nil: nothing.
  public let value: JSONValue?

  init(step: Int, pointer: String, value: JSONValue?) {
    self.step = step
    self.pointer = pointer
    self.value = value
  }

  /// Reads what `path` and `bytes` gave.
  ///
  /// - Throws: `JSONError` when it is none.
  public init(path: String, bytes: [UInt8]) throws {
    let digits = path.utf8.prefix { $0 != UInt8(ascii: "/") }
    guard let step = Int(Substring(digits)), step >= 0 else {
      throw JSONError("\"\(path)\" names no kept value")
    }
    self.step = step
    pointer = String(Substring(path.utf8.dropFirst(digits.count)))
    value = bytes.isEmpty ? nil : try JSONValue(parsing: bytes)
  }

  /// Step and place in one text, which differs between all kept values of one record and version.
  public var path: String { "\(step)\(pointer)" }

  /// The value as JSON; empty for nothing.
  public func bytes() throws -> [UInt8] { try value?.serialized() ?? [] }
}
