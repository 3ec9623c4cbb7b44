import SatchelJSON

/// A change that went to the spill file, and that the store refused when it was to be taken in; or a part of
/// the file that could not be read.
public struct RefusedEntry: Equatable, Sendable {
  public var id: Int64
  /// When it was refused, in Unix milliseconds.
  public var time: Int64
  /// The change, as JSON; empty for a part that could not be read, which stays in the file that was set
  /// aside.
  public var entry: [UInt8]
  public var reason: String

  /// As it crosses the C boundary.
  package var json: JSONValue {
    [
      "id": .int(id), "time": .int(time), "reason": .string(reason),
      "entry": (try? JSONValue(parsing: entry)) ?? .null,
    ]
  }
}
