/// What a host answers when it is asked for an object.
public enum HostReading: Sendable {
  /// Tag and metadata as the host has them; not yet believed.
  case object(body: [UInt8], etag: String, metadata: [String: String])
  /// It is still the one that was named.
  case notModified
}
