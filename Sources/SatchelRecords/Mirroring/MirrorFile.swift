import SatchelJSON
import SatchelStorage

/// A collection as one JSON text, a record a line, that a person can read:
///
///     {"format":1,"collection":"courses","version":1,"records":[
///     {"id":"c1","revision":3,"created":0,"modified":0,"document":{"title":"Algebra"}},
///     …
///     ],"sha256":"…"}
///
/// The checksum is of all bytes up to the "]" that ends the records, and proves that nothing was lost or damaged.
/// Who edits a mirror by hand takes the member "sha256" out.
public struct MirrorFile: Sendable, Equatable {
  /// The format that is written, and the newest that can be read.
  public static let format: Int64 = 1
  /// Levels of a document: a mirror puts three around it, of the 512 that a JSON text may have.
  public static let maximumDepth = JSONValue.maximumDepth - 3

  public let collection: String
  /// Of the collection's documents.
  public let version: Int
  /// SHA-256 of the file that it was written in place of, before the commit whose records it has; nil for a file that
  /// was written after its commit, or has no checksum.
  let previous: String?
  /// Ordered by the bytes of their ids.
  public let records: [MirrorRecord]

  public init(collection: String, version: Int, records: some Sequence<MirrorRecord>) {
    self.init(collection: collection, version: version, previous: nil, records: records)
  }

  init(collection: String, version: Int, previous: String?, records: some Sequence<MirrorRecord>) {
    self.collection = collection
    self.version = version
    self.previous = previous
    self.records = records.sorted(by: MirrorRecord.isOrdered)
  }

  /// The text.
  ///
  /// - Throws: `SatchelError` `.invalid` naming the record whose document cannot be in a mirror: one of more levels
  ///   than `maximumDepth`, or bytes that are no JSON object.
  public func serialized() throws -> [UInt8] {
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
        try MirrorDocument.append(record.document, to: &text)
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
