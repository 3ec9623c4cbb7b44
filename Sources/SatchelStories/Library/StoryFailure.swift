import SatchelCore
import SatchelJSON
import SatchelStorage

/// The reason why a file is not a story or cannot be read.
struct StoryFailure: Error, Equatable, Sendable {
  var code: StoryFinding.Code
  /// The message, without the file's name.
  var message: String
  var line: Int?
  var column: Int?
  /// The error code for a call that needs this file.
  var status = SatchelError.Code.invalid
}

extension StoryFailure {
  /// Creates the failure of a file that cannot be read.
  static func unreadable(_ message: String, _ status: SatchelError.Code = .io) -> StoryFailure {
    StoryFailure(code: .unreadable, message: message, status: status)
  }

  /// Creates the failure of a file that cannot be read, from an error number.
  static func unreadable(errno code: Int32) -> StoryFailure {
    unreadable(String(cString: strerror(code)))
  }

  /// Creates a failure from a finding of a check.
  init(_ finding: StoryFinding) {
    self.init(
      code: finding.code, message: finding.message, line: finding.position.line,
      column: finding.position.column)
  }

  /// Creates a failure from an error of parsing a text.
  init(parsing error: any Error) {
    let satchel = error as? SatchelError
    let position = (satchel?.underlying as? JSONError)?.position
    self.init(
      code: StoryReader.isJSON(error) ? .notAStory : .notJSON, message: satchel?.message ?? "\(error)",
      line: position?.line, column: position?.column)
  }

  /// Returns the failure as an error with the file's name.
  func error(in file: String) -> SatchelError {
    SatchelError(status, "\(file): \(message)").at(line: line, column: column)
  }
}
