import SatchelCore
import SatchelJSON
import SatchelStorage

/// A record as it travels: its content, and where that comes from.
///
/// Its bytes are what is kept, sent and compared; each writing of a record has bytes of its own, because they name
/// who wrote them on top of what.
struct RecordEnvelope: Sendable, Equatable {
  /// An envelope that an other one was built on, directly or not: the last one of its writer.
  struct Ancestor: Sendable, Equatable {
    var writer: String
    var checksum: String
  }

  /// The most bytes that an envelope may have.
  static let maximumSize = 32 << 20
  /// The most ancestors that are named; the oldest are left out.
  static let maximumAncestors = 32
  static let format: Int64 = 1

  var id: String
  /// Of the documents of its collection.
  var version: Int64
  var content: RecordContent
  /// The store that wrote it.
  var writer: String
  /// The oldest first; no writer twice.
  var ancestors: [Ancestor]
  /// How it is spelled.
  let bytes: [UInt8]
  /// Names these bytes: the first half of their SHA-256 in hexadecimal digits.
  let checksum: String

  init(
    bytes: [UInt8], id: String, version: Int64, content: RecordContent, writer: String, ancestors: [Ancestor]
  ) {
    self.bytes = bytes
    self.id = id
    self.version = version
    self.content = content
    self.writer = writer
    self.ancestors = ancestors
    checksum = RecordEnvelope.checksum(of: bytes)
  }

  static func checksum(of bytes: [UInt8]) -> String { SHA256.digest(bytes).prefix(16).hexadecimal }

  /// An envelope that is to replace another one, or none.
  init(_ content: RecordContent, id: String, version: Int64, writer: String, on parent: RecordEnvelope?) {
    var content = content
    // What is built on something is newer than that, whatever the clocks say.
    content.modified = max(content.modified, parent?.content.modified ?? content.modified)
    let ancestors = parent?.lineage ?? []
    self.init(
      bytes: RecordEnvelope.spell(content, id: id, version: version, writer: writer, ancestors: ancestors),
      id: id,
      version: version, content: content, writer: writer, ancestors: ancestors)
  }

  /// What the ancestors of an envelope are that is built on this one.
  private var lineage: [Ancestor] {
    let others = ancestors.filter { $0.writer != writer }
    return (others + [Ancestor(writer: writer, checksum: checksum)]).suffix(RecordEnvelope.maximumAncestors)
  }

  /// Whether it is known to have been built on another one.
  func isBuilt(on other: RecordEnvelope) -> Bool { isBuilt(on: other.checksum, by: other.writer) }

  func isBuilt(on checksum: String, by writer: String) -> Bool {
    ancestors.contains { $0.writer == writer && $0.checksum == checksum }
  }

  private static func spell(
    _ content: RecordContent, id: String, version: Int64, writer: String, ancestors: [Ancestor]
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity((content.document?.count ?? 0) + 320)
    func add(_ text: String) { bytes.append(contentsOf: text.utf8) }
    add("{\"format\":\(format),\"id\":")
    JSONValue.write(id, into: &bytes)
    add(",\"version\":\(version),\"revision\":\(content.revision),\"created\":\(content.created)")
    add(",\"modified\":\(content.modified),\"deleted\":\(content.isDeleted),\"writer\":")
    JSONValue.write(writer, into: &bytes)
    add(",\"ancestors\":{")
    for (position, ancestor) in ancestors.enumerated() {
      if position > 0 { add(",") }
      JSONValue.write(ancestor.writer, into: &bytes)
      add(":")
      JSONValue.write(ancestor.checksum, into: &bytes)
    }
    add("}")
    if let document = content.document {
      add(",\"document\":")
      bytes += document
    }
    add("}")
    return bytes
  }
}
