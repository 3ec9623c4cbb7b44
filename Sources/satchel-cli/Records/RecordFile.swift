import ArgumentParser
import Satchel

/// Whether a file is a plain mirror, as other programs write JSON.
struct PlainFileArguments: ParsableArguments {
  @Flag(help: "The file is plain JSON: an object with the documents by id, or an array of documents.")
  var plain = false

  @Option(
    help: ArgumentHelp(
      "The file is a plain array, whose documents have their ids in this member. The default for an array that "
        + "is read is id, _id or uuid.", valueName: "name"))
  var idMember: String?

  func validate() throws {
    if idMember?.isEmpty == true { throw ValidationError("--id-member: must not be empty") }
  }

  /// Nil for a mirror with a checksum and for JSON lines.
  var format: MirrorFormat? { plain || idMember != nil ? .plain(idMember: idMember) : nil }
}

/// The records of a mirror file or of JSON lines.
struct RecordFile {
  private(set) var records: [ImportedRecord] = []
  /// The line in which each record begins.
  private(set) var lines: [Int] = []
  /// The version of a mirror's documents; nil for JSON lines.
  private(set) var version: Int?
  /// The parts of the file that are not valid records.
  private(set) var rejected: [RejectedRecord] = []
  /// The content of a plain file.
  private(set) var plain: MirrorFile?

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - path: "-" for the standard input
  ///   - collection: the collection that a mirror must belong to
  ///   - format: of a plain file; nil detects a mirror with a checksum, JSON lines, and a plain array
  /// - Throws: `SatchelError` `.io` when the file cannot be read; invalid content is in `rejected`
  init(_ path: String, of collection: String, as format: MirrorFormat? = nil) throws {
    let bytes: [UInt8]
    do {
      bytes =
        try path == "-"
        ? FileBytes.contents(of: STDIN_FILENO) : FileBytes.contents(of: FilePath(argument: path))
    } catch let error as SatchelError {
      throw SatchelError(
        error.code, "\(path == "-" ? "the standard input" : path.printable): \(error.message)")
    }
    if let format {
      readPlain(bytes, of: collection, format)
    } else if Self.isMirror(bytes) {
      readMirror(bytes, collection)
    } else if bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "[") {
      readPlain(bytes, of: collection, .plain())
    } else {
      readLines(bytes)
    }
  }

  /// Returns the record that a transaction's error names: "courses/algebra: …".
  func index(namedBy message: String, in collection: String) -> Int? {
    records.indices.filter { message.utf8.starts(with: "\(collection)/\(records[$0].id): ".utf8) }
      .max { records[$0].id.utf8.count < records[$1].id.utf8.count }
  }

  /// Returns whether the first key is one of a mirror's, which also works for damaged files.
  private static func isMirror(_ bytes: [UInt8]) -> Bool {
    let spaces = Set(" \t\r\n".utf8)
    var rest = bytes[...].drop { spaces.contains($0) }
    guard rest.popFirst() == UInt8(ascii: "{") else { return false }
    rest = rest.drop { spaces.contains($0) }
    guard rest.popFirst() == UInt8(ascii: "\"") else { return false }
    let key = rest.prefix { $0 != UInt8(ascii: "\"") }
    return ["format", "collection", "version", "records", "sha256"].contains { key.elementsEqual($0.utf8) }
  }

  // MARK: Mirrors

  private mutating func readMirror(_ bytes: [UInt8], _ collection: String) {
    do {
      let mirror = try MirrorFile(parsing: bytes, collection: collection)
      version = mirror.version
      records = mirror.records.map { record in
        ImportedRecord(
          id: record.id, document: record.document,
          stamp: ImportedRecord.Stamp(
            revision: record.revision, created: record.created, modified: record.modified))
      }
      lines = try bytes.withUnsafeBytes { try Self.lines(of: JSONTape($0)) }
    } catch let error as JSONError {
      rejected = [RejectedRecord(error)]
    } catch {
      rejected = [RejectedRecord("\(error)")]
    }
  }

  private mutating func readPlain(_ bytes: [UInt8], of collection: String, _ format: MirrorFormat) {
    do {
      let file = try MirrorFile(parsing: bytes, as: format, collection: collection, version: 1)
      plain = file
      records = file.records.map { record in
        ImportedRecord(id: record.id, document: record.document, idMember: file.layout.idMember)
      }
      lines = try bytes.withUnsafeBytes { bytes in
        let tape = try JSONTape(bytes)
        var (line, offset) = (1, 0)
        return tape.children(of: tape.root).map { record in
          let start = tape.rawRange(record).lowerBound
          line += tape.bytes[offset..<start].count { $0 == UInt8(ascii: "\n") }
          offset = start
          return line
        }
      }
    } catch let error as JSONError {
      rejected = [RejectedRecord(error)]
    } catch {
      rejected = [RejectedRecord("\(error)")]
    }
  }

  /// Returns the lines of a mirror's records, ordered by the bytes of their ids.
  private static func lines(of tape: JSONTape) -> [Int] {
    guard let list = tape.member("records", of: tape.root) else { return [] }
    var positions: [(id: String, line: Int)] = []
    var (line, offset) = (1, 0)
    for record in tape.children(of: list) {
      guard let id = tape.member("id", of: record) else { continue }
      let start = tape.rawRange(record).lowerBound
      line += tape.bytes[offset..<start].count { $0 == UInt8(ascii: "\n") }
      offset = start
      positions.append((tape.text(id), line))
    }
    return positions.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }.map(\.line)
  }

  // MARK: JSON lines

  private mutating func readLines(_ bytes: [UInt8]) {
    var seen: [[UInt8]: Int] = [:]
    let texts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (number, text) in zip(1..., texts) where text.contains(where: { $0 > 0x20 }) {
      do {
        let record = try Array(text).withUnsafeBytes { try RecordLine.record(in: JSONTape($0)) }
        if let earlier = seen.updateValue(number, forKey: Array(record.id.utf8)) {
          rejected.append(
            RejectedRecord(
              line: number, id: record.id, "duplicate id \"\(record.id)\", first in line \(earlier)"))
        }
        records.append(record)
        lines.append(number)
      } catch let error as JSONError {
        rejected.append(RejectedRecord(error, line: number))
      } catch {
        rejected.append(RejectedRecord(line: number, "\(error)"))
      }
    }
  }
}

/// Parses one JSON line: `{"id", "document"}`, with or without revision and times.
private enum RecordLine {
  /// Parses a record.
  ///
  /// - Throws: `JSONError` with the position in the line
  static func record(in tape: JSONTape) throws -> ImportedRecord {
    guard tape[tape.root].kind == .object else { throw failure("must be an object", at: tape.root, of: tape) }
    var (id, document): (Int?, Int?)
    var numbers: [String: Int64] = [:]
    for child in tape.children(of: tape.root) {
      let key = tape.text(child - 1)
      switch key {
      case "id": id = child
      case "document": document = child
      case "revision", "created", "modified": numbers[key] = try integer(child, key, of: tape)
      // Written by "list"; describes the store that it was read from.
      case "sync_status": break
      default: throw failure("unknown key", at: child - 1, JSONPath.pointer([key]), of: tape)
      }
    }
    guard let id, tape[id].kind == .string else {
      throw failure("must have a string \"id\"", at: id ?? tape.root, id == nil ? "" : "/id", of: tape)
    }
    guard let document, tape[document].kind == .object else {
      throw failure(
        "must have an object \"document\"", at: document ?? tape.root,
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
      throw failure("revision, created and modified must be given together", at: tape.root, of: tape)
    }
    return ImportedRecord.Stamp(revision: revision, created: created, modified: modified)
  }

  private static func integer(_ index: Int, _ key: String, of tape: JSONTape) throws -> Int64 {
    guard tape[index].kind == .integer, let number = Int64(tape.text(index)), key != "revision" || number > 0
    else { throw failure("must be an integer; a revision must be 1 or more", at: index, "/\(key)", of: tape) }
    return number
  }

  private static func failure(
    _ reason: String, at index: Int, _ pointer: String = "", of tape: JSONTape
  ) -> JSONError {
    JSONError(reason, pointer: pointer, position: tape.position(index))
  }
}

/// A part of a file that is not a valid record, or a record that violates the collection's constraints.
struct RejectedRecord {
  /// Counted from 1; nil when the error concerns the whole file.
  var line: Int?
  /// The byte in the line, counted from 1.
  var column: Int?
  var id: String?
  var reason: String

  init(line: Int? = nil, column: Int? = nil, id: String? = nil, _ reason: String) {
    self.line = line
    self.column = column
    self.id = id
    self.reason = reason
  }

  /// - Parameter line: the line of the file at which the parsed text begins
  init(_ error: JSONError, line: Int = 1) {
    let position = error.position
    self.init(
      line: position.map { $0.line + line - 1 } ?? line, column: position?.column,
      JSONError(error.reason, pointer: error.pointer).description)
  }

  /// Formats the error: "courses.json:3:7: at /records/0/id: not a string".
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
