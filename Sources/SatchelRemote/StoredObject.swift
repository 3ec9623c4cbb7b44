/// An object as it is in the store at one moment.
public struct StoredObject: Sendable, Equatable {
  public var body: [UInt8]
  public var etag: ETag
  public var metadata: ObjectMetadata

  public init(body: [UInt8], etag: ETag, metadata: ObjectMetadata = .none) {
    self.body = body
    self.etag = etag
    self.metadata = metadata
  }

  public var head: ObjectHead { ObjectHead(size: Int64(body.count), etag: etag, metadata: metadata) }
}
