import SatchelCore
import SatchelJSON
import SatchelStorage

/// The path of an index, a relation or a query: into the document, or to a field of the record itself.
enum FieldPath: Equatable, Sendable {
  case document(DocumentPath)
  case id
  case created
  case modified
  case revision
  case syncStatus

  /// Reads a path of a query.
  init(_ text: String) throws {
    switch text {
    case "@id": self = .id
    case "@created": self = .created
    case "@modified": self = .modified
    case "@revision": self = .revision
    case "@sync_status": self = .syncStatus
    default: self = .document(try DocumentPath(text))
    }
  }
}

/// A path to a value in a document.
struct DocumentPath: Sendable {
  /// The path as it was declared.
  let text: String
  let path: JSONPath
  /// The components as UTF-8.
  let keys: [[UInt8]]
  /// Whether the path may lead into arrays: only JSON Pointers do.
  let reachesArrays: Bool

  /// - Throws: `.invalid` for an invalid path, and for one to the whole document
  init(_ text: String) throws {
    self.text = text
    do {
      path = try JSONPath(text)
    } catch let error as JSONError {
      throw SatchelError(.invalid, "\"\(text)\" is not a path: \(error.reason)")
    }
    guard !path.components.isEmpty else {
      throw SatchelError(.invalid, "the path is empty; it must name a field")
    }
    guard text.utf8.first != UInt8(ascii: "@") else {
      throw SatchelError(
        .invalid,
        "\"\(text)\": not a field of a record; the fields are @id, @created, @modified, @revision and @sync_status"
      )
    }
    keys = path.components.map { Array($0.utf8) }
    reachesArrays = path.isPointer
  }

  var pointer: String { path.pointer }
}

extension DocumentPath: Equatable {
  /// Whether both lead to the same value in every document.
  static func == (left: DocumentPath, right: DocumentPath) -> Bool {
    left.keys == right.keys && (left.reachesArrays == right.reachesArrays || !left.hasIndex)
  }

  private var hasIndex: Bool {
    keys.contains { $0.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }
  }
}
