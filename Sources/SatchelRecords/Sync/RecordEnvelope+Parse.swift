import SatchelCore
import SatchelJSON
import SatchelStorage

extension RecordEnvelope {
  /// Reads what somebody else has written, and believes nothing of it. Members that it does not know are left alone.
  ///
  /// - Parameter id: the record whose object it is
  /// - Throws: `SatchelError`: `newer` for another format, `invalid` for everything else, with the place
  init(parsing bytes: [UInt8], id: String) throws {
    guard bytes.count <= RecordEnvelope.maximumSize else {
      throw SatchelError(.invalid, "an envelope has at most \(RecordEnvelope.maximumSize) bytes")
    }
    self = try bytes.withUnsafeBytes { buffer in
      let tape = try naming("envelope") { try JSONTape(buffer) }
      return try RecordEnvelope(EnvelopeReader(tape: tape), bytes: bytes, id: id)
    }
  }

  private init(_ reader: EnvelopeReader, bytes: [UInt8], id: String) throws {
    try reader.checkObject()
    let format = try reader.integer("format", 1...Int64.max)
    guard format == RecordEnvelope.format else {
      throw SatchelError(.newer, "envelope: /format: \(format) is newer than \(RecordEnvelope.format)")
    }
    let named = try reader.text("id", 1...255)
    guard named.utf8.elementsEqual(id.utf8) else {
      throw SatchelError(.invalid, "envelope: /id: it is of another record")
    }
    let isDeleted = try reader.truth("deleted")
    let document = try reader.document()
    guard isDeleted == (document == nil) else {
      throw SatchelError(
        .invalid,
        isDeleted ? "envelope: /document: a deleted record has none" : "envelope: /document: is missing")
    }
    let time = 0...NonDecreasingClock.latest
    let content = RecordContent(
      document: document, revision: try reader.integer("revision", 0...(1 << 53)),
      created: try reader.integer("created", time), modified: try reader.integer("modified", time))
    self.init(
      bytes: bytes, id: id, version: try reader.integer("version", 1...Int64(Int32.max)), content: content,
      writer: try reader.text("writer", 1...128), ancestors: try reader.ancestors())
  }
}

/// Reads the members of an envelope.
private struct EnvelopeReader {
  let tape: JSONTape

  private func failure(_ name: String, _ reason: String) -> SatchelError {
    SatchelError(.invalid, "envelope: /\(name): \(reason)")
  }

  func checkObject() throws {
    guard tape[tape.root].kind == .object else { throw SatchelError(.invalid, "envelope: is no object") }
  }

  private func member(_ name: StaticString, _ kind: JSONKind) throws -> Int {
    guard let index = tape.member(name, of: tape.root) else { throw failure("\(name)", "is missing") }
    guard tape[index].kind == kind else { throw failure("\(name)", "is of another type") }
    return index
  }

  func integer(_ name: StaticString, _ range: ClosedRange<Int64>) throws -> Int64 {
    guard let value = Int64(tape.text(try member(name, .integer))), range.contains(value) else {
      throw failure("\(name)", "is out of range")
    }
    return value
  }

  func truth(_ name: StaticString) throws -> Bool { tape.text(try member(name, .bool)) == "true" }

  func text(_ name: StaticString, _ length: ClosedRange<Int>) throws -> String {
    let text = tape.text(try member(name, .string))
    guard length.contains(text.utf8.count) else { throw failure("\(name)", "is of another length") }
    return text
  }

  /// The bytes as they stand there.
  func document() throws -> [UInt8]? {
    guard let index = tape.member("document", of: tape.root) else { return nil }
    guard tape[index].kind == .object else { throw failure("document", "is no object") }
    var bytes: [UInt8] = []
    tape.copy(index, to: &bytes)
    return bytes
  }

  func ancestors() throws -> [RecordEnvelope.Ancestor] {
    guard tape.member("ancestors", of: tape.root) != nil else { return [] }
    let parent = try member("ancestors", .object)
    var ancestors: [RecordEnvelope.Ancestor] = []
    for child in tape.children(of: parent) {
      let (writer, checksum) = (tape.text(child - 1), tape.text(child))
      let isSound = (1...128).contains(writer.utf8.count) && checksum.utf8.count == 32
      guard tape[child].kind == .string, isSound, ancestors.count < RecordEnvelope.maximumAncestors else {
        throw failure("ancestors", "are none")
      }
      ancestors.append(RecordEnvelope.Ancestor(writer: writer, checksum: checksum))
    }
    return ancestors
  }
}
