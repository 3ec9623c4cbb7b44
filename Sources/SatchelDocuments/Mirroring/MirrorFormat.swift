import SatchelCore
import SatchelJSON

/// The format of a mirror's file.
public enum MirrorFormat: Sendable, Equatable {
  /// JSON as other programs write it: an object with the documents by id, or an array of objects of which one
  /// member is the id. An existing file keeps its layout.
  ///
  /// The file has no revisions, times and version, so a record that is imported from it is written as by
  /// `put`.
  ///
  /// - Parameter idMember: the member of an array's objects that is the id; nil for "id", "_id" or "uuid",
  ///   the first of them that the file's first object has. A new file is an array when it is given, otherwise
  ///   an object.
  case plain(idMember: String? = nil)
  /// One record a line with revision and times, and a checksum of them all.
  case checksummed
}

/// The layout of a mirror's file.
package enum MirrorLayout: Sendable, Equatable {
  case checksummed
  /// The documents by id.
  case object
  /// Documents that hold their ids.
  case array(idMember: String)

  private static let idMembers: [StaticString] = ["id", "_id", "uuid"]

  /// The layout of a new file.
  init(new format: MirrorFormat) {
    switch format {
    case .checksummed: self = .checksummed
    case .plain(nil): self = .object
    case .plain(let member?): self = .array(idMember: member)
    }
  }

  /// Detects the layout of an existing file; a new file's for one that is not JSON.
  init(of text: [UInt8], _ format: MirrorFormat) {
    self.init(new: format)
    guard case .plain(let member) = format else { return }
    let layout = text.withUnsafeBytes { bytes in
      (try? JSONTape(bytes)).map { Self(plain: $0, idMember: member) }
    }
    if let layout { self = layout }
  }

  /// Detects the layout of a plain file.
  init(plain tape: JSONTape, idMember: String?) {
    guard tape[tape.root].kind == .array else {
      self = .object
      return
    }
    var elements = tape.children(of: tape.root)
    let first = elements.next()
    let found = first.flatMap { first in Self.idMembers.first { tape.member($0, of: first) != nil } }
    self = .array(idMember: idMember ?? "\(found ?? "id")")
  }

  /// The maximum number of levels of a document: a mirror adds some to the 512 that a JSON text may have.
  var maximumDepth: Int { JSONValue.maximumDepth - (self == .checksummed ? 3 : 1) }

  /// The member of a document that is its id.
  package var idMember: String? { if case .array(let member) = self { member } else { nil } }
}

extension MirrorFile {
  /// The maximum size of a mirror's file in bytes: it is read and written as a whole.
  static let maximumSize = 256 << 20

  /// Returns the text of a plain file, one record a line.
  func plainText() throws -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(records.reduce(16) { $0 + $1.document.count + $1.id.utf8.count + 16 })
    let isArray = layout.idMember != nil
    text.append(UInt8(ascii: isArray ? "[" : "{"))
    for (index, record) in records.enumerated() {
      text.append(contentsOf: (index == 0 ? "\n" : ",\n").utf8)
      do {
        if let member = layout.idMember {
          try append(record, idMember: member, to: &text)
        } else {
          JSONValue.write(record.id, into: &text)
          text.append(UInt8(ascii: ":"))
          try MirrorDocument.append(record.document, to: &text, maximumDepth: layout.maximumDepth)
        }
      } catch let error as JSONError {
        throw SatchelError(.invalid, "\(collection)/\(record.id): \(error)", underlying: error)
      }
    }
    text.append(contentsOf: (isArray ? "\n]\n" : "\n}\n").utf8)
    return text
  }

  /// Appends a document that holds its id.
  private func append(_ record: MirrorRecord, idMember: String, to text: inout [UInt8]) throws {
    let hasID = try record.document.withUnsafeBytes { bytes in
      let tape = try JSONTape(bytes)
      guard let found = tape.value(of: idMember, in: tape.root) else { return false }
      guard tape.idText(found)?.hasSameBytes(as: record.id) == true else {
        throw JSONError(
          "is not the record's id; the mirror is an array whose objects have it there",
          pointer: JSONPath.pointer([idMember]))
      }
      return true
    }
    let start = text.count
    try MirrorDocument.append(record.document, to: &text, maximumDepth: layout.maximumDepth)
    if hasID { return }
    var member: [UInt8] = []
    JSONValue.write(idMember, into: &member)
    member.append(UInt8(ascii: ":"))
    JSONValue.write(record.id, into: &member)
    if text.count > start + 2 { member.append(UInt8(ascii: ",")) }
    text.insert(contentsOf: member, at: start + 1)
  }
}

extension JSONTape {
  /// Returns the value of a member of the object at `index`; nil when it is absent.
  func value(of name: String, in index: Int) -> Int? {
    guard self[index].kind == .object else { return nil }
    return children(of: index).first { text($0 - 1).hasSameBytes(as: name) }
  }

  /// Returns the id that a value is: a string, or an integer as it is written; nil for another value.
  func idText(_ index: Int) -> String? {
    self[index].kind == .string || self[index].kind == .integer ? text(index) : nil
  }
}
