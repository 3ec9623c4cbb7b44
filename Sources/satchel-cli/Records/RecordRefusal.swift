import Satchel

/// Something in a file that is no record, or that the collection does not allow.
struct RecordRefusal {
  /// Counted from 1; nil where no line is to blame.
  var line: Int?
  /// Bytes since the line began, counted from 1.
  var column: Int?
  var id: String?
  var reason: String

  init(line: Int? = nil, column: Int? = nil, id: String? = nil, _ reason: String) {
    self.line = line
    self.column = column
    self.id = id
    self.reason = reason
  }

  /// - Parameter line: the text's own first line, where it is a part of a file
  init(_ error: JSONError, line: Int = 1) {
    let place = error.position
    self.init(
      line: place.map { $0.line + line - 1 } ?? line, column: place?.column,
      JSONError(error.reason, pointer: error.pointer).description)
  }

  /// "courses.json:3:7: at /records/0/id: not a string".
  func text(_ file: String) -> String {
    var parts = [file]
    if let line {
      parts.append("\(line)")
      if let column { parts.append("\(column)") }
    }
    return (parts.joined(separator: ":") + ": " + reason).printable
  }

  var json: JSONValue {
    [
      "line": line.map { .int(Int64($0)) } ?? .null, "column": column.map { .int(Int64($0)) } ?? .null,
      "id": id.map { .string($0) } ?? .null, "message": .string(reason),
    ]
  }
}
