/// Why a text is not JSON, or a value cannot be edited as asked, and where.
public struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What is wrong, in words; no place in it.
  public var reason: String
  /// RFC 6901 pointer of the value (or path component) it is about; nil where no value was begun.
  public var pointer: String?
  /// Byte offset into the text, 1-based line and column (in bytes); nil for errors about values.
  public var position: JSONPosition?

  public init(_ reason: String, pointer: String? = nil, position: JSONPosition? = nil) {
    self.reason = reason
    self.pointer = pointer
    self.position = position
  }

  /// "line 3, column 7, at /items/0: duplicate key "a"".
  public var description: String {
    var place: [String] = []
    if let position { place.append("line \(position.line), column \(position.column)") }
    if let pointer { place.append("at \(pointer.isEmpty ? "the root" : pointer)") }
    return place.isEmpty ? reason : place.joined(separator: ", ") + ": " + reason
  }
}

/// A place in a text.
public struct JSONPosition: Equatable, Sendable {
  /// Bytes before it.
  public var offset: Int
  /// Counted from 1.
  public var line: Int
  /// Bytes since the line began, counted from 1.
  public var column: Int

  public init(offset: Int, line: Int, column: Int) {
    self.offset = offset
    self.line = line
    self.column = column
  }
}
