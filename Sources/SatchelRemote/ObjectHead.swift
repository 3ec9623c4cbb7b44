/// An object without its body.
public struct ObjectHead: Sendable, Equatable {
  /// Bytes of the body.
  public var size: Int64
  public var etag: ETag
  public var metadata: ObjectMetadata

  public init(size: Int64, etag: ETag, metadata: ObjectMetadata = .none) {
    self.size = size
    self.etag = etag
    self.metadata = metadata
  }
}
