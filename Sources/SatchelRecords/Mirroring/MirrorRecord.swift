import SatchelJSON

/// A record as a mirror holds it.
public struct MirrorRecord: Sendable, Equatable {
  public var id: String
  public var revision: Int64
  /// Unix milliseconds.
  public var created: Int64
  /// Unix milliseconds.
  public var modified: Int64
  /// A JSON object; a mirror leaves its white space out.
  public var document: [UInt8]

  public init(id: String, revision: Int64, created: Int64, modified: Int64, document: [UInt8]) {
    self.id = id
    self.revision = revision
    self.created = created
    self.modified = modified
    self.document = document
  }

  /// Whether one comes before the other in a mirror: by the bytes of the ids.
  static func isOrdered(_ one: MirrorRecord, _ other: MirrorRecord) -> Bool {
    one.id.utf8.lexicographicallyPrecedes(other.id.utf8)
  }
}
