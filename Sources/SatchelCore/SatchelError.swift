/// An error of the library: `code` for programs, `message` for people.
public struct SatchelError: Error, Sendable, CustomStringConvertible {
  /// Error codes, with the numbers of `satchel_status` in satchel.h.
  public enum Code: Int32, Sendable, CaseIterable {
    case invalid = 1
    case notFound, busy, damaged, foreign, newer, readOnly, full, io, closed, cancelled, noMemory, `internal`
    /// A compare-and-set whose expected revision is not the stored one.
    case conflict
    /// A unique index, a relation or a schema forbids the change.
    case constraint
    /// The remote refuses the credentials, or does not permit the request; or an encryption key is missing or
    /// wrong.
    case unauthorized
    /// The remote cannot be reached.
    case unavailable
    /// A read took longer than its time limit.
    case timedOut
  }

  public var code: Code
  /// Names what failed, where and why; contains no credentials and no content.
  public var message: String
  /// The error that caused this one, if any.
  public var underlying: (any Error)?
  /// Allocated only for an error that has details.
  private var location: Location?

  /// Creates an error, with the details of the error that caused it.
  public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.underlying = underlying
    if let located = underlying as? any LocatedError { details = located.details }
  }

  /// Where the error is, so that no program parses the message.
  public var details: Details {
    get { location?.details ?? Details() }
    set { location = newValue.isEmpty ? nil : Location(newValue) }
  }

  private final class Location: Sendable {
    let details: Details
    init(_ details: Details) { self.details = details }
  }

  public var description: String { message }
}

extension SatchelError {
  /// Creates an error from `errno` for a file or directory.
  ///
  /// - Parameters:
  ///   - code: the value of `errno`
  ///   - path: the file or directory; begins the message
  ///   - denied: the code for a refused access
  package init(errno code: Int32, _ path: String, denied: Code = .readOnly) {
    let status: Code =
      switch code {
      case ENOENT: .notFound
      case ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG, ENXIO: .invalid
      case EROFS, EACCES, EPERM: denied
      case ENOSPC, EDQUOT: .full
      case ENOMEM: .noMemory
      default: .io
      }
    self.init(status, "\(path): \(String(cString: strerror(code)))")
  }
}
