import SatchelCore
import SatchelJSON
import SatchelStorage

/// The path of a query: into the document, or to a field of the record itself.
enum FieldPath: Equatable, Sendable {
  case document(DocumentPath)
  /// A value that is computed from one in the document.
  case computed(ComputedPath)
  /// The values of the elements of an array.
  case elements(ElementPath)
  case id
  case created
  case modified
  case revision
  case syncStatus

  /// Reads a path of a query.
  ///
  /// - Throws: `.invalid`, also for one in the syntax of another library
  init(_ text: String) throws {
    try WrongGuess.check(text)
    try self.init(stored: text)
  }

  /// Reads a path of an index.
  ///
  /// - Throws: `.invalid`
  init(stored text: String) throws {
    switch text {
    case "@id": self = .id
    case "@created": self = .created
    case "@modified": self = .modified
    case "@revision": self = .revision
    case "@sync_status": self = .syncStatus
    default:
      if let computed = try ComputedPath(text) {
        self = .computed(computed)
      } else if let elements = try ElementPath(text) {
        self = .elements(elements)
      } else {
        self = .document(try DocumentPath(text))
      }
    }
  }

  /// The path as queries write it.
  var text: String {
    switch self {
    case .document(let path): path.text
    case .computed(let path): path.text
    case .elements(let path): path.text
    case .id: "@id"
    case .created: "@created"
    case .modified: "@modified"
    case .revision: "@revision"
    case .syncStatus: "@sync_status"
    }
  }

  /// Whether every record has it, and no document.
  var isOfRecord: Bool {
    switch self {
    case .document, .computed, .elements: false
    case .id, .created, .modified, .revision, .syncStatus: true
    }
  }

  /// The path into the documents that the values come from; nil for a field of the record.
  var source: DocumentPath? {
    switch self {
    case .document(let path): path
    case .computed(let path): path.path
    case .elements(let path): path.arrays.first
    case .id, .created, .modified, .revision, .syncStatus: nil
    }
  }

  var type: RecordType? {
    switch self {
    case .document(let path): path.type
    case .computed(let path): path.type
    case .elements(let path): path.type
    case .id, .created, .modified, .revision, .syncStatus: nil
    }
  }

  /// Returns the path with a type, which has no part in comparing paths.
  func typed(_ type: RecordType) -> FieldPath {
    switch self {
    case .document(var path):
      path.type = type
      return .document(path)
    case .computed(var path):
      path.type = type
      return .computed(path)
    case .elements(var path):
      path.type = type
      return .elements(path)
    case .id, .created, .modified, .revision, .syncStatus: return self
    }
  }

  /// Rejects the path of several values, where one is needed.
  ///
  /// - Throws: `.invalid`
  func checkSingle(_ use: String) throws {
    guard case .elements(let path) = self else { return }
    throw SatchelError(
      .invalid,
      "\"\(path.text)\": an array has several elements, and \(use) needs one value: use \"first(...)\"")
  }
}

extension FieldPath {
  /// The field of records that an index can have the order of; nil for others.
  static func indexed(_ text: String) -> FieldPath? {
    switch text {
    case "@id": .id
    case "@created": .created
    case "@modified": .modified
    default: nil
    }
  }
}

/// Paths that look like the syntax of another library, and name no member that an app would have.
enum WrongGuess {
  /// - Throws: `.invalid` with the form that was probably meant
  static func check(_ text: String) throws {
    if let reason = reason(text) { throw SatchelError(.invalid, "\"\(text)\": \(reason)") }
  }

  private static func reason(_ text: String) -> String? {
    // A JSON Pointer is no guess.
    if text.utf8.first == UInt8(ascii: "/") { return nil }
    if text.hasPrefix("$.") {
      return "a path begins with the member, without \"$\": \"\(text.dropFirst(2))\""
    }
    for word in [" desc", " asc"] where text.lowercased().hasSuffix(word) {
      let path = text.dropLast(word.utf8.count)
      return
        "the order of a path is descending with \"-\" before it: \"\(word == " desc" ? "-" : "")\(path)\""
    }
    let operators = [
      "gt", "gte", "lt", "lte", "in", "ne", "exact", "iexact", "contains", "icontains", "startswith",
      "isnull",
    ]
    for name in operators where text.hasSuffix("__" + name) {
      let path = text.dropLast(name.utf8.count + 2)
      let known = [
        "startswith": "prefix", "icontains": "contains", "exact": "eq", "iexact": "eq", "isnull": "exists",
      ]
      return
        "an operator is a member of the path's condition: {\"\(path)\": {\"\(known[name] ?? name)\": ...}}"
    }
    return nil
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
  /// How the values are compared; nil for as they are.
  var type: RecordType?

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

  /// Whether a component may be the index of an array.
  var hasIndex: Bool {
    keys.contains { $0.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }
  }
}
