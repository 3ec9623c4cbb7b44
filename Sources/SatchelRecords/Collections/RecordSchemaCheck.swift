import SatchelJSON
import SatchelStorage

/// A JSON Schema that the documents of a collection must fulfil.
struct RecordSchemaCheck: Sendable {
  private let schema: JSONSchema

  /// - Throws: `.invalid` for what is no schema
  init(_ json: JSONValue) throws { schema = try naming("schema") { try JSONSchema(json) } }

  /// - Throws: `.invalid` with the places that violate it
  func check(_ body: UnsafeRawBufferPointer, _ place: @autoclosure () -> String) throws {
    let violations = schema.check(try JSONValue(parsing: body))
    guard !violations.isEmpty else { return }
    let reasons = violations.prefix(3).map {
      "\($0.pointer.isEmpty ? "the document" : $0.pointer): \($0.reason)"
    }
    let others = violations.count > 3 ? "; and \(violations.count - 3) more" : ""
    throw SatchelError(.invalid, "\(place()): \(reasons.joined(separator: "; "))\(others)")
  }
}
