/// An error of parsing, editing or converting JSON, with its location.
public struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The reason, without the location.
  public var reason: String
  /// The RFC 6901 pointer of the value (or path component); nil when no value has begun.
  public var pointer: String?
  /// The position in the text: byte offset, and 1-based line and column (in bytes); nil for errors about
  /// values.
  public var position: JSONPosition?
  /// The value of the limit that was exceeded; nil when none was.
  public var limit: Int?

  public init(
    _ reason: String, pointer: String? = nil, position: JSONPosition? = nil, limit: Int? = nil
  ) {
    self.reason = reason
    self.pointer = pointer
    self.position = position
    self.limit = limit
  }

  /// The location and the reason, such as "line 3, column 7, at /items/0: duplicate key "a"".
  public var description: String {
    var location: [String] = []
    if let position { location.append("line \(position.line), column \(position.column)") }
    if let pointer { location.append("at \(pointer.isEmpty ? "the root" : pointer)") }
    return location.isEmpty ? reason : location.joined(separator: ", ") + ": " + reason
  }
}

/// A position in a text.
public struct JSONPosition: Equatable, Sendable {
  /// The offset in bytes.
  public var offset: Int
  /// The line, counted from 1.
  public var line: Int
  /// The column in bytes, counted from 1.
  public var column: Int

  public init(offset: Int, line: Int, column: Int) {
    self.offset = offset
    self.line = line
    self.column = column
  }
}
