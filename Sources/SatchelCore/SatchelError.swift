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
  private var place: Place?

  /// Creates an error, with the details of the error that caused it.
  public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.underlying = underlying
    if let located = underlying as? any LocatedError { details = located.details }
  }

  /// Where the error is, so that no program parses the message.
  public var details: Details {
    get { place?.details ?? Details() }
    set { place = newValue.isEmpty ? nil : Place(newValue) }
  }

  private final class Place: Sendable {
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

extension SatchelError {
  /// Where an error is. A member is nil where it does not apply.
  public struct Details: Equatable, Sendable {
    /// The part of the store: "catalogue", "photos", "stories", "records" or "state".
    public var subject: String?
    /// The collection of a record; the kind of a value of state; the section of a catalogue.
    public var collection: String?
    /// The id of a record, story or entity, the MD5 of a photo, the name of a value of state.
    public var id: String?
    /// The RFC 6901 JSON Pointer of the value, in the document or argument that the message names.
    public var pointer: String?
    /// The line in the text that the message names, counted from 1.
    public var line: Int?
    /// The column in bytes, counted from 1.
    public var column: Int?
    /// The id that is in the way: of the record that has the unique value, that restricts the deletion, or that
    /// does not exist.
    public var otherID: String?
    /// The collection of `otherID`.
    public var otherCollection: String?
    /// The value of the limit that was exceeded, in the unit of the message.
    public var limit: Int64?

    public init(
      subject: String? = nil, collection: String? = nil, id: String? = nil, pointer: String? = nil,
      line: Int? = nil, column: Int? = nil, otherCollection: String? = nil, otherID: String? = nil,
      limit: Int64? = nil
    ) {
      self.subject = subject
      self.collection = collection
      self.id = id
      self.pointer = pointer
      self.line = line
      self.column = column
      self.otherCollection = otherCollection
      self.otherID = otherID
      self.limit = limit
    }

    /// Whether no member applies.
    public var isEmpty: Bool { self == Details() }

    /// Sets the members that are nil to those of `other`.
    fileprivate mutating func complete(by other: Details) {
      subject = subject ?? other.subject
      collection = collection ?? other.collection
      id = id ?? other.id
      pointer = pointer ?? other.pointer
      line = line ?? other.line
      column = column ?? other.column
      if otherID == nil { (otherCollection, otherID) = (other.otherCollection, other.otherID) }
      limit = limit ?? other.limit
    }
  }

  /// Returns the error with further details; those that it has already are kept, because the place that threw it
  /// knows them best.
  package func at(_ details: Details) -> SatchelError {
    var error = self
    error.details.complete(by: details)
    return error
  }

  /// Returns the error with further details; see `at(_:)`.
  package func at(
    subject: String? = nil, collection: String? = nil, id: String? = nil, pointer: String? = nil,
    line: Int? = nil, column: Int? = nil, otherID: String? = nil, limit: Int? = nil
  ) -> SatchelError {
    at(
      Details(
        subject: subject, collection: collection, id: id, pointer: pointer, line: line, column: column,
        otherID: otherID, limit: limit.map(Int64.init)))
  }
}

/// An error that knows where it is; a `SatchelError` that it causes has its details.
package protocol LocatedError: Error {
  var details: SatchelError.Details { get }
}

extension SatchelError: LocatedError {}
