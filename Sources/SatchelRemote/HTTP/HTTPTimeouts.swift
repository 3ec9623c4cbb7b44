/// How long to wait for a server, in milliseconds; 0 is for ever.
public struct HTTPTimeouts: Sendable, Equatable {
  /// Until there is a connection, encryption included.
  public var connect: Int64
  /// While not a byte comes or goes.
  public var stall: Int64
  /// For a request as a whole, however well it goes on.
  public var total: Int64

  public init(connect: Int64 = 10_000, stall: Int64 = 30_000, total: Int64 = 0) {
    self.connect = connect
    self.stall = stall
    self.total = total
  }
}
