import SatchelJSON

/// What went wrong, for a program (`code`) and for a person (`message`).
public struct SatchelError: Error, Sendable, CustomStringConvertible {
  /// The same numbers as `satchel_status` of the header.
  public enum Code: Int32, Sendable, CaseIterable {
    case invalid = 1
    case notFound, busy, damaged, foreign, newer, readOnly, full, io, closed, cancelled, noMemory, `internal`
  }

  public var code: Code
  /// Names the place and the cause; holds no credentials and no content.
  public var message: String
  /// The error of a lower floor, where there was one.
  public var underlying: (any Error)?

  public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.underlying = underlying
  }

  /// An argument called `name` that is not JSON, or not the JSON that is wanted.
  public init(_ error: JSONError, in name: String) {
    self.init(.invalid, "\(name): \(error)", underlying: error)
  }

  public var description: String { message }
}

/// Runs `body` and says which argument its JSON errors are about.
package func naming<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch let error as JSONError {
    throw SatchelError(error, in: name)
  }
}
