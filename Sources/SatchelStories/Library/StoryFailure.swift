import SatchelJSON
import SatchelStorage

/// Why a file is no story, or none that may be read.
struct StoryFailure: Error, Equatable, Sendable {
  var code: StoryFinding.Code
  /// In words, without the file's name.
  var message: String
  var line: Int?
  var column: Int?
  /// How a call that wanted this file fails.
  var status = SatchelError.Code.invalid

  /// A file that cannot be read.
  static func unreadable(_ message: String, _ status: SatchelError.Code = .io) -> StoryFailure {
    StoryFailure(code: .unreadable, message: message, status: status)
  }

  /// What the system said last.
  static func unreadable(errno code: Int32) -> StoryFailure {
    unreadable(String(cString: strerror(code)))
  }

  /// As a finding of a check says it.
  init(_ finding: StoryFinding) {
    self.init(
      code: finding.code, message: finding.message, line: finding.position.line,
      column: finding.position.column)
  }

  init(
    code: StoryFinding.Code, message: String, line: Int? = nil, column: Int? = nil,
    status: SatchelError.Code = .invalid
  ) {
    self.code = code
    self.message = message
    self.line = line
    self.column = column
    self.status = status
  }

  /// What reading a text threw.
  init(_ error: any Error, reading text: UnsafeRawBufferPointer, source: StorySource) {
    let satchel = error as? SatchelError
    let position = (satchel?.underlying as? JSONError)?.position
    var sink = JSONNullSink()
    let isJSON = source == .twee || (try? JSONScanner.scan(text, into: &sink)) != nil
    self.init(
      code: isJSON ? .notAStory : .notJSON, message: satchel?.message ?? "\(error)", line: position?.line,
      column: position?.column)
  }

  /// As an error about a file.
  func error(in file: String) -> SatchelError { SatchelError(status, "\(file): \(message)") }
}
