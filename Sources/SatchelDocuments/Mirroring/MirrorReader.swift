import SatchelCore
import SatchelJSON
import SatchelStorage

extension MirrorFile {
  /// Reads a mirror's text.
  ///
  /// - Parameters:
  ///   - collection: the collection that it must be the mirror of
  /// - Throws: `JSONError` with line, column and pointer for anything that the writer does not produce.
  package init(parsing text: [UInt8], collection: String) throws {
    self = try text.withUnsafeBytes { try MirrorReader($0).file(of: collection) }
  }

  /// Reads the text of a mirror in the given format.
  ///
  /// - Parameter version: of the documents of a plain file, which does not have it
  /// - Throws: `JSONError` with line, column and pointer
  package init(parsing text: [UInt8], as format: MirrorFormat, collection: String, version: Int) throws {
    guard case .plain(let idMember) = format else {
      try self.init(parsing: text, collection: collection)
      return
    }
    self = try text.withUnsafeBytes {
      try MirrorReader($0).plainFile(of: collection, version: version, idMember: idMember)
    }
  }
}

/// Reads a mirror strictly: everything must be valid.
private struct MirrorReader {
  private let tape: JSONTape

  init(_ bytes: UnsafeRawBufferPointer) throws { tape = try JSONTape(bytes) }

  func file(of collection: String) throws -> MirrorFile {
    guard tape.member("format", of: tape.root) != nil else {
      throw failure(
        "not a mirror with a checksum; attach a plain file with format=\"plain\"", tape.root, path: [])
    }
    let names: [StaticString] = ["format", "collection", "version", "records"]
    let (root, optional) = try members(of: tape.root, names, optional: ["sha256", "previous"], at: [])
    let format = try integer(root[0], in: 1...Int64.max, at: ["format"])
    guard format <= MirrorFile.format else {
      throw failure("format \(format) is newer than \(MirrorFile.format)", root[0], path: ["format"])
    }
    guard try string(root[1], at: ["collection"]).hasSameBytes(as: collection) else {
      throw failure(
        "this is the mirror of \(tape.text(root[1])), not of \(collection)", root[1], path: ["collection"])
    }
    let version = try integer(root[2], in: 1...Int64(Int32.max), at: ["version"])
    guard tape[root[3]].kind == .array else { throw failure("not an array", root[3], path: ["records"]) }
    if let sum = optional[0] { try checkSum(sum, records: root[3]) }
    let previous = try optional[1].map { try string($0, at: ["previous"]) }
    var records: [MirrorRecord] = []
    var indexes: [Int] = []
    for (index, element) in tape.children(of: root[3]).enumerated() {
      records.append(try record(element, of: collection, at: ["records", String(index)]))
      indexes.append(element)
    }
    try checkDistinct(records, indexes, in: ["records"])
    return MirrorFile(
      collection: collection, version: Int(version), previous: optional[0] == nil ? nil : previous,
      records: records, .checksummed)
  }

  func plainFile(of collection: String, version: Int, idMember: String?) throws -> MirrorFile {
    let isArray = tape[tape.root].kind == .array
    guard isArray || tape[tape.root].kind == .object else {
      throw failure("neither an array of objects nor an object with the documents by id", tape.root, path: [])
    }
    if tape.member("format", of: tape.root) != nil, tape.member("records", of: tape.root) != nil,
      tape.member("collection", of: tape.root).map({ tape[$0].kind == .string }) == true
    {
      throw failure("a mirror with a checksum; attach it with format=\"checksummed\"", tape.root, path: [])
    }
    let layout = MirrorLayout(plain: tape, idMember: idMember)
    var records: [MirrorRecord] = []
    var indexes: [Int] = []
    for (index, element) in tape.children(of: tape.root).enumerated() {
      let path = isArray ? [String(index)] : [tape.text(element - 1)]
      guard tape[element].kind == .object else {
        throw failure(
          "not an object: a plain mirror is an array of objects, or an object with the documents by id",
          element, path: path)
      }
      var location = (isArray ? element : element - 1, path)
      var id = path[0]
      if let member = layout.idMember {
        guard let found = tape.value(of: member, in: element) else {
          throw failure(
            "has no \"\(member)\"; id_member names the member that is the id", element, path: path)
        }
        location = (found, path + [member])
        guard let text = tape.idText(found) else {
          throw failure("an id must be a string or an integer", location.0, path: location.1)
        }
        id = text
      }
      try check(&id, of: collection, location.0, path: location.1)
      // Without the indentation that another program has written.
      var document: [UInt8] = []
      try MirrorDocument.append(
        Array(tape.bytes[tape.rawRange(element)]), to: &document, maximumDepth: JSONValue.maximumDepth)
      records.append(MirrorRecord(id: id, revision: 0, created: 0, modified: 0, document: document))
      indexes.append(element)
    }
    if isArray { try checkDistinct(records, indexes, in: []) }
    return MirrorFile(collection: collection, version: version, previous: nil, records: records, layout)
  }

  private func check(_ id: inout String, of collection: String, _ index: Int, path: [String]) throws {
    do {
      try id.withUTF8 { try RecordID.check(UnsafeRawBufferPointer($0), in: collection) }
    } catch let error as SatchelError {
      throw failure(error.message, index, path: path)
    }
  }

  private func checkSum(_ index: Int, records: Int) throws {
    let stated = try string(index, at: ["sha256"])
    let covered = UnsafeRawBufferPointer(rebasing: tape.bytes[..<tape.rawRange(records).upperBound])
    guard stated.hasSameBytes(as: SHA256.digest(covered).hexadecimal) else {
      throw failure("the checksum does not match the records", index, path: ["sha256"])
    }
  }

  private func record(_ index: Int, of collection: String, at path: [String]) throws -> MirrorRecord {
    let (found, _) = try members(of: index, ["id", "revision", "created", "modified", "document"], at: path)
    guard tape[found[4]].kind == .object else {
      throw failure("not an object", found[4], path: path + ["document"])
    }
    var id = try string(found[0], at: path + ["id"])
    try check(&id, of: collection, found[0], path: path + ["id"])
    let anyTime = Int64.min...Int64.max
    return MirrorRecord(
      id: id, revision: try integer(found[1], in: 1...Int64.max, at: path + ["revision"]),
      created: try integer(found[2], in: anyTime, at: path + ["created"]),
      modified: try integer(found[3], in: anyTime, at: path + ["modified"]),
      document: Array(tape.bytes[tape.rawRange(found[4])]))
  }

  private func checkDistinct(_ records: [MirrorRecord], _ indexes: [Int], in path: [String]) throws {
    let order = orderOfIndices(records.count) { MirrorRecord.precedes(records[$0], records[$1]) }
    for (one, other) in zip(order, order.dropFirst())
    where records[one].id.hasSameBytes(as: records[other].id) {
      let later = max(one, other)
      throw failure("\"\(records[later].id)\" occurs twice", indexes[later], path: path + [String(later)])
    }
  }

  /// Returns the values of an object that has exactly these members, and possibly the optional ones.
  private func members(
    of index: Int, _ names: [StaticString], optional: [StaticString] = [], at path: [String]
  ) throws -> (found: [Int], optional: [Int?]) {
    guard tape[index].kind == .object else { throw failure("not an object", index, path: path) }
    var found = [Int?](repeating: nil, count: names.count)
    var extra = [Int?](repeating: nil, count: optional.count)
    for child in tape.children(of: index) {
      if let position = names.firstIndex(where: { tape.keyEquals(child, $0) }) {
        found[position] = child
      } else if let position = optional.firstIndex(where: { tape.keyEquals(child, $0) }) {
        extra[position] = child
      } else {
        throw failure("an unknown member", child - 1, path: path + [tape.text(child - 1)])
      }
    }
    for (name, position) in zip(names, found) where position == nil {
      throw failure("the member \"\(name)\" is missing", index, path: path)
    }
    return (found.compactMap(\.self), extra)
  }

  private func string(_ index: Int, at path: [String]) throws -> String {
    guard tape[index].kind == .string else { throw failure("not a string", index, path: path) }
    return tape.text(index)
  }

  private func integer(_ index: Int, in range: ClosedRange<Int64>, at path: [String]) throws -> Int64 {
    guard tape[index].kind == .integer, let number = Int64(tape.text(index)), range.contains(number) else {
      throw failure("not an integer in its range", index, path: path)
    }
    return number
  }

  private func failure(_ reason: String, _ index: Int, path: [String]) -> JSONError {
    JSONError(reason, pointer: JSONPath.pointer(path), position: tape.position(index))
  }
}
