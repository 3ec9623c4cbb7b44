import Satchel

/// Records as a file has them: a mirror, or JSON lines.
struct RecordFile {
  private(set) var records: [ImportedRecord] = []
  /// The line that each of them stands in, or begins in.
  private(set) var lines: [Int] = []
  /// Of a mirror: the version of its documents.
  private(set) var version: Int?
  /// What in it is no record.
  private(set) var refusals: [RecordRefusal] = []

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - path: "-" for the standard input
  ///   - collection: whose mirror it must be, if it is one
  /// - Throws: `SatchelError` `.io` when it cannot be read; what is wrong in it is among the refusals
  init(_ path: String, of collection: String) throws {
    let bytes: [UInt8]
    do {
      bytes =
        try path == "-"
        ? FileBytes.contents(of: STDIN_FILENO) : FileBytes.contents(of: FilePath(argument: path))
    } catch let error as SatchelError {
      throw SatchelError(
        error.code, "\(path == "-" ? "the standard input" : path.printable): \(error.message)")
    }
    if Self.isMirror(bytes) { readMirror(bytes, collection) } else { readLines(bytes) }
  }

  /// The record that an error of a transaction names: "courses/algebra: …".
  func index(namedBy message: String, in collection: String) -> Int? {
    records.indices.filter { message.utf8.starts(with: "\(collection)/\(records[$0].id): ".utf8) }
      .max { records[$0].id.utf8.count < records[$1].id.utf8.count }
  }

  /// Whether the first key is one of a mirror's: that tells both apart even where they are damaged.
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
      refusals = [RecordRefusal(error)]
    } catch {
      refusals = [RecordRefusal("\(error)")]
    }
  }

  /// The lines of a mirror's records, which are ordered by the bytes of their ids.
  private static func lines(of tape: JSONTape) -> [Int] {
    guard let list = tape.member("records", of: tape.root) else { return [] }
    var places: [(id: String, line: Int)] = []
    var (line, offset) = (1, 0)
    for record in tape.children(of: list) {
      guard let id = tape.member("id", of: record) else { continue }
      let start = tape.spelling(record).lowerBound
      line += tape.bytes[offset..<start].count { $0 == UInt8(ascii: "\n") }
      offset = start
      places.append((tape.text(id), line))
    }
    return places.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }.map(\.line)
  }

  // MARK: JSON lines

  private mutating func readLines(_ bytes: [UInt8]) {
    var seen: [[UInt8]: Int] = [:]
    let texts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (number, text) in zip(1..., texts) where text.contains(where: { $0 > 0x20 }) {
      do {
        let record = try Array(text).withUnsafeBytes { try RecordLine.record(in: JSONTape($0)) }
        if let earlier = seen.updateValue(number, forKey: Array(record.id.utf8)) {
          refusals.append(
            RecordRefusal(line: number, id: record.id, "\"\(record.id)\" stands in line \(earlier) already"))
        }
        records.append(record)
        lines.append(number)
      } catch let error as JSONError {
        refusals.append(RecordRefusal(error, line: number))
      } catch {
        refusals.append(RecordRefusal(line: number, "\(error)"))
      }
    }
  }
}
