/// What a host answers when it is asked about an object.
public struct HostHead: Sendable {
  /// Bytes of the body.
  public var size: Int64
  public var etag: String
  public var metadata: [String: String]

  public init(size: Int64, etag: String, metadata: [String: String] = [:]) {
    self.size = size
    self.etag = etag
    self.metadata = metadata
  }
}
