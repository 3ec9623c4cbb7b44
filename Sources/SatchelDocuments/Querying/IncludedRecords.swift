import SatchelCore
import SatchelJSON
import SatchelStorage

/// The related records that a query includes with a record: `record.included["author"]`.
public struct IncludedRecords: Equatable, Sendable {
  struct Part: Equatable, Sendable {
    /// The path of the relation, as the query has it.
    var path: String
    var isMany: Bool
    var records: [Record]
  }

  var parts: [Part] = []

  package init() {}

  /// Whether the query includes no relation.
  public var isEmpty: Bool { parts.isEmpty }
  /// The included relations, as the query has them.
  public var paths: [String] { parts.map(\.path) }

  /// Returns the related records in the order of their ids in the document: of a relation to one, at most one.
  ///
  /// Ids without a record are left out. Empty for a path that the query does not include.
  public subscript(path: String) -> [Record] { parts.first { $0.path == path }?.records ?? [] }

  /// The JSON form of the public interfaces: a record or null by the path, an array of records for a relation to many.
  package var json: JSONValue {
    get throws {
      var object = JSONObject()
      for part in parts {
        let records = try part.records.map { try $0.json }
        object[part.path] = part.isMany ? .array(records) : records.first ?? .null
      }
      return .object(object)
    }
  }

  /// Appends the JSON form of the public interfaces.
  func write(into bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "{"))
    for (position, part) in parts.enumerated() {
      if position > 0 { bytes.append(UInt8(ascii: ",")) }
      JSONValue.write(part.path, into: &bytes)
      bytes.append(UInt8(ascii: ":"))
      guard part.isMany else {
        if let record = part.records.first {
          record.write(into: &bytes, withDocument: true)
        } else {
          bytes.append(contentsOf: "null".utf8)
        }
        continue
      }
      bytes.append(UInt8(ascii: "["))
      for (number, record) in part.records.enumerated() {
        if number > 0 { bytes.append(UInt8(ascii: ",")) }
        record.write(into: &bytes, withDocument: true)
      }
      bytes.append(UInt8(ascii: "]"))
    }
    bytes.append(UInt8(ascii: "}"))
  }
}

/// Reads the related records of a query in its snapshot: each once, however many records refer to it.
final class RelatedRecordReader {
  private struct Relation {
    /// As the query has it.
    var path: String
    var relation: CollectionRelation
    var target: Target
  }

  /// A collection that relations refer to, and the records of it that were looked up; nil for those that do not exist.
  private final class Target {
    let state: CollectionState
    let fetch: RecordFetch
    var positions: [[UInt8]: Int] = [:]
    var records: [Record?] = []

    init(_ state: CollectionState, _ connection: Connection, _ store: RecordStore) {
      self.state = state
      fetch = RecordFetch(connection, state, store: store, isRelated: true)
    }
  }

  private let connection: Connection
  private var relations: [Relation] = []

  /// - Parameter relations: by the paths as the query has them
  init(
    _ relations: [(path: String, relation: CollectionRelation)], _ connection: Connection,
    of store: RecordStore
  ) throws {
    self.connection = connection
    var targets: [Target] = []
    for (path, relation) in relations {
      var target = targets.first { $0.state.id == relation.target }
      if target == nil, let state = try store.state(of: relation.target, connection) {
        let new = Target(state, connection, store)
        targets.append(new)
        target = new
      }
      guard let target else {
        throw SatchelError(.damaged, "the collection to which \"\(path)\" refers is not in the store")
      }
      self.relations.append(Relation(path: path, relation: relation, target: target))
    }
  }

  /// Returns the records to which a document refers.
  ///
  /// - Throws: as reading them does: for the key of their sensitive fields, for example
  func records(of document: DocumentReader) throws -> IncludedRecords {
    var included = IncludedRecords()
    for each in relations {
      var records: [Record] = []
      func add(_ field: FieldValue) throws {
        guard let id = field.withText({ Array($0) }) else { return }
        if let record = try record(id, each.target) { records.append(record) }
      }
      switch document.field(each.relation.path) {
      case .array(let location): try document.elements(of: location) { try add(document.field($0)) }
      case let field: try add(field)
      }
      included.parts.append(
        IncludedRecords.Part(path: each.path, isMany: each.relation.isMany, records: records))
    }
    return included
  }

  private func record(_ id: [UInt8], _ target: Target) throws -> Record? {
    if let position = target.positions[id] { return target.records[position] }
    let record = try locating(.record(target.state.name, id)) {
      try id.withUnsafeBytes { key in
        try target.state.first(key, connection) { row in
          try target.fetch.one(row, of: key) { try $0.record(withDocument: true) }
        }
      }
    }
    target.positions[id] = target.records.count
    target.records.append(record)
    return record
  }
}

extension QueryRun {
  /// Returns the relations that a query includes, each once, by the paths as the query has them.
  ///
  /// - Throws: `.invalid` for a path that is not that of a relation
  func included(by query: CompiledQuery) throws -> [(path: String, relation: CollectionRelation)] {
    var found: [(path: String, relation: CollectionRelation)] = []
    for path in query.include {
      guard let relation = rules.relations.first(where: { .document($0.path) == path }) else {
        let names = rules.relations.map { "\"\($0.path.text)\"" }
        throw SatchelError(
          .invalid,
          "\(rules.name): query: /include: \"\(path.text)\" is not a declared relation; "
            + (names.isEmpty
              ? "the collection has none" : "the relations are \(names.joined(separator: ", "))"))
      }
      if !found.contains(where: { $0.relation.id == relation.id }) { found.append((path.text, relation)) }
    }
    return found
  }
}
