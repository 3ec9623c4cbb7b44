import SatchelCore
import SatchelJSON
import SatchelStorage

/// A collection as one JSON text with one record a line, which a person can read. With a checksum it is:
///
///     {"format":1,"collection":"courses","version":1,"records":[
///     {"id":"c1","revision":3,"created":0,"modified":0,"document":{"title":"Algebra"}},
///     …
///     ],"sha256":"…"}
///
/// The checksum covers all bytes up to the "]" that ends the records, and detects loss and damage. To edit such
/// a mirror by hand, remove the member "sha256". The plain layouts are `{id: document, …}` and
/// `[document, …]`.
package struct MirrorFile: Sendable, Equatable {
  /// The format version that is written, and the newest that can be read.
  package static let format: Int64 = 1
  package let collection: String
  /// The version of the collection's documents.
  package let version: Int
  /// SHA-256 of the file that this one replaced, in a file written before the commit with its records; nil
  /// for a file that was written after its commit, or has no checksum.
  let previous: String?
  /// Ordered by the bytes of their ids; in a plain layout as they are in the file, or were inserted.
  package let records: [MirrorRecord]
  package let layout: MirrorLayout

  package init(collection: String, version: Int, records: some Sequence<MirrorRecord>) {
    self.init(collection: collection, version: version, previous: nil, records: records, .checksummed)
  }

  /// A new file in the given format.
  package init(
    collection: String, version: Int, records: some Sequence<MirrorRecord>, as format: MirrorFormat
  ) {
    self.init(
      collection: collection, version: version, previous: nil, records: records, MirrorLayout(new: format))
  }

  init(
    collection: String, version: Int, previous: String?, records: some Sequence<MirrorRecord>,
    _ layout: MirrorLayout
  ) {
    self.collection = collection
    self.version = version
    self.previous = previous
    self.records = layout == .checksummed ? records.sorted(by: MirrorRecord.precedes) : Array(records)
    self.layout = layout
  }

  /// Returns the file's text.
  ///
  /// - Throws: `SatchelError` `.invalid`, naming the record, for a document with too many levels, that is not
  ///   a JSON object, or that has another id where the layout has the record's
  package func serialized() throws -> [UInt8] {
    if layout != .checksummed { return try plainText() }
    var text: [UInt8] = []
    text.reserveCapacity(records.reduce(256) { $0 + $1.document.count + 160 })
    text.append(contentsOf: "{\"format\":\(MirrorFile.format),\"collection\":".utf8)
    JSONValue.write(collection, into: &text)
    text.append(contentsOf: ",\"version\":\(version)".utf8)
    if let previous {
      text.append(contentsOf: ",\"previous\":".utf8)
      JSONValue.write(previous, into: &text)
    }
    text.append(contentsOf: ",\"records\":[\n".utf8)
    for (index, record) in records.enumerated() {
      if index > 0 { text.append(contentsOf: ",\n".utf8) }
      text.append(contentsOf: "{\"id\":".utf8)
      JSONValue.write(record.id, into: &text)
      let facts =
        "\"revision\":\(record.revision),\"created\":\(record.created),\"modified\":\(record.modified)"
      text.append(contentsOf: ",\(facts),\"document\":".utf8)
      do {
        try MirrorDocument.append(record.document, to: &text, maximumDepth: layout.maximumDepth)
      } catch {
        throw SatchelError(.invalid, "\(collection)/\(record.id): \(error)", underlying: error)
      }
      text.append(UInt8(ascii: "}"))
    }
    text.append(contentsOf: "\n]".utf8)
    let checksum = SHA256.digest(text).hexadecimal
    text.append(contentsOf: ",\"sha256\":\"\(checksum)\"}\n".utf8)
    return text
  }
}

/// A record of a mirror.
package struct MirrorRecord: Sendable, Equatable {
  package var id: String
  /// 0 for a record of a plain file, which has neither revision nor times.
  package var revision: Int64
  /// Unix milliseconds.
  package var created: Int64
  /// Unix milliseconds.
  package var modified: Int64
  /// A JSON object; a mirror omits its white space.
  package var document: [UInt8]

  package init(id: String, revision: Int64, created: Int64, modified: Int64, document: [UInt8]) {
    self.id = id
    self.revision = revision
    self.created = created
    self.modified = modified
    self.document = document
  }

  /// Returns whether one record comes before another in a mirror: by the bytes of the ids.
  static func precedes(_ one: MirrorRecord, _ other: MirrorRecord) -> Bool {
    one.id.utf8.lexicographicallyPrecedes(other.id.utf8)
  }
}
