import Satchel

/// A record on a line of its own: `{"id", "document"}`, with revision and times or without.
enum RecordLine {
  /// - Throws: `JSONError` with the place in the line
  static func record(in tape: JSONTape) throws -> ImportedRecord {
    guard tape[tape.root].kind == .object else { throw failure("must be an object", tape.root, "", of: tape) }
    var (id, document): (Int?, Int?)
    var numbers: [String: Int64] = [:]
    for child in tape.children(of: tape.root) {
      let key = tape.text(child - 1)
      switch key {
      case "id": id = child
      case "document": document = child
      case "revision", "created", "modified": numbers[key] = try integer(child, key, of: tape)
      // Comes from "list", and says something about the store that it comes from.
      case "sync_status": break
      default: throw failure("an unknown member", child - 1, JSONPath.pointer([key]), of: tape)
      }
    }
    guard let id, tape[id].kind == .string else {
      throw failure("must have an \"id\", which is a text", id ?? tape.root, id == nil ? "" : "/id", of: tape)
    }
    guard let document, tape[document].kind == .object else {
      throw failure(
        "must have a \"document\", which is an object", document ?? tape.root,
        document == nil ? "" : "/document", of: tape)
    }
    var body: [UInt8] = []
    tape.copy(document, to: &body)
    return ImportedRecord(id: tape.text(id), document: body, stamp: try stamp(numbers, of: tape))
  }

  private static func stamp(_ numbers: [String: Int64], of tape: JSONTape) throws -> ImportedRecord.Stamp? {
    if numbers.isEmpty { return nil }
    guard let revision = numbers["revision"], let created = numbers["created"],
      let modified = numbers["modified"]
    else {
      throw failure("revision, created and modified come together, or not at all", tape.root, "", of: tape)
    }
    return ImportedRecord.Stamp(revision: revision, created: created, modified: modified)
  }

  private static func integer(_ index: Int, _ key: String, of tape: JSONTape) throws -> Int64 {
    guard tape[index].kind == .integer, let number = Int64(tape.text(index)), key != "revision" || number > 0
    else { throw failure("must be an integer, and a revision 1 or more", index, "/\(key)", of: tape) }
    return number
  }

  private static func failure(
    _ reason: String, _ index: Int, _ pointer: String, of tape: JSONTape
  ) -> JSONError {
    JSONError(reason, pointer: pointer, position: tape.position(index))
  }
}
