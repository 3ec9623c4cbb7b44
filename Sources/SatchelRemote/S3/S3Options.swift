import SatchelStorage

/// How a bucket is talked to.
public struct S3Options: Sendable {
  /// A file of PEM certificates that are trusted instead of the system's.
  public var caFile: String?
  public var timeouts: HTTPTimeouts
  /// Larger objects are not read, in bytes; a bound on memory.
  public var maximumSize: Int64
  /// The time of day that requests are signed with.
  public var clock: Clock

  public init(
    caFile: String? = nil, timeouts: HTTPTimeouts = HTTPTimeouts(), maximumSize: Int64 = 1 << 30,
    clock: Clock = .system
  ) {
    self.caFile = caFile
    self.timeouts = timeouts
    self.maximumSize = maximumSize
    self.clock = clock
  }
}
