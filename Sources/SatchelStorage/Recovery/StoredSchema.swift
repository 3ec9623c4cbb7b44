/// The tables that a database file has, and where their trees begin.
struct StoredSchema: Equatable {
  struct Table: Equatable {
    var name: String
    var root: Int
  }

  var tables: [Table] = []

  /// Reads the list of tables (`sqlite_schema`) as far as it can be read; it is a tree like others.
  init(_ reader: TreeReader) throws {
    var found: [Table] = []
    try reader.rows(root: 1, isKeyed: true) { _, values in
      guard values.count >= 4, values[0] == .text(Array("table".utf8)), case .text(let name) = values[1],
        case .integer(let root) = values[3], root > 1
      else { return }
      found.append(Table(name: String(decoding: name, as: UTF8.self), root: Int(clamping: root)))
    }
    tables = found
  }
}
