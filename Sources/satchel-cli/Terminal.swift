import ArgumentParser
import Satchel

/// The tool's messages, tables and exit codes.
enum Terminal {
  /// The exit code of a command that found a problem, or did not find what was requested.
  static let attention = ExitCode(1)

  /// Prints a value as one line of JSON.
  static func print(json: JSONValue) throws { Swift.print(try json.plainText) }

  /// Prints a message to the standard error, with the prefix "satchel: ".
  static func printError(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }
    var line = "satchel: \(lines.joined(separator: "\n"))\n"
    // A failure to write an error message is ignored.
    _ = line.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  /// Exits after an error: with the command's exit code, with 0 after help or the version, or with 2.
  static func finish(with error: any Error) -> Never {
    if let code = error as? ExitCode { exit(code.rawValue) }
    if let error = error as? SatchelError {
      printError(error.message.printable)
      exit(2)
    }
    // The message repeats the invalid argument; `printError` makes it printable.
    if SatchelTool.exitCode(for: error) == .success {
      Swift.print(HelpText.wrapped(SatchelTool.fullMessage(for: error, columns: HelpText.unlimited)))
      exit(0)
    }
    let text = SatchelTool.fullMessage(for: error)
    printError(text.hasPrefix("Error: ") ? String(text.dropFirst(7)) : text)
    exit(2)
  }

  /// Formats a time in UTC: "2026-03-14 09:26".
  static func time(_ milliseconds: Int64) -> String { time(seconds: milliseconds / 1000) }

  /// Formats Unix seconds in UTC; returns the number itself when the year cannot be represented.
  static func time(seconds: Int64) -> String {
    var time = time_t(seconds)
    var parts = tm()
    var buffer = [UInt8](repeating: 0, count: 64)
    guard gmtime_r(&time, &parts) != nil else { return "\(seconds)" }
    let count = buffer.withUnsafeMutableBytes {
      strftime($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, "%Y-%m-%d %H:%M", &parts)
    }
    return String(decoding: buffer.prefix(count), as: UTF8.self)
  }

  /// Formats a number with its noun: "1 section", "2 sections".
  static func count(_ number: Int, _ one: String, plural many: String? = nil) -> String {
    "\(number) \(number == 1 ? one : many ?? one + "s")"
  }

  /// Formats a size: "512 bytes", "3.4 MB".
  static func bytes(_ number: Int64) -> String {
    var (value, unit) = (Double(number), "")
    for name in ["kB", "MB", "GB", "TB"] where value >= 999.95 { (value, unit) = (value / 1000, name) }
    guard !unit.isEmpty else { return number == 1 ? "1 byte" : "\(number) bytes" }
    let tenths = Int64((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) \(unit)"
  }

  /// Formats rows with right-aligned columns; the last column is text and is not padded.
  static func numericTable(_ rows: [[String]]) -> String {
    let rows = rows.map { $0.map(\.printable) }
    var widths: [Int] = []
    for row in rows {
      for (column, cell) in row.enumerated() {
        if column == widths.count { widths.append(0) }
        widths[column] = max(widths[column], cell.count)
      }
    }
    return rows.map { row in
      row.enumerated().map { column, cell in
        column == row.count - 1 ? cell : String(repeating: " ", count: widths[column] - cell.count) + cell
      }.joined(separator: "  ")
    }.joined(separator: "\n")
  }

  /// Formats rows with left-aligned columns; the last column is not padded.
  static func table(_ rows: [[String]]) -> String {
    let rows = rows.map { $0.map(\.printable) }
    var widths: [Int] = []
    for row in rows {
      for (column, cell) in row.dropLast().enumerated() {
        if column == widths.count { widths.append(0) }
        widths[column] = max(widths[column], cell.count)
      }
    }
    return rows.map { row in
      row.enumerated().map { column, cell in
        let width = column < row.count - 1 ? widths[column] : 0
        return cell + String(repeating: " ", count: max(0, width - cell.count))
      }.joined(separator: "  ")
    }.joined(separator: "\n")
  }
}

extension Terminal {
  /// The ANSI codes for severities and emphasis.
  enum Colour: String {
    case red = "31"
    case yellow = "33"
    case bold = "1"
  }

  static func isTerminal(_ descriptor: CInt) -> Bool { isatty(descriptor) == 1 }

  /// Returns whether to print colours: on a terminal that supports them, unless NO_COLOR is set
  /// (no-color.org).
  static func wantsColour(_ descriptor: CInt) -> Bool {
    guard isTerminal(descriptor) else { return false }
    let isDisabled = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
    return !isDisabled && getenv("TERM").map { strcmp($0, "dumb") != 0 } ?? false
  }

  static func coloured(_ text: String, _ colour: Colour) -> String {
    "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
  }

  /// Writes optional output such as a progress bar; a failure to write is ignored.
  static func put(_ text: String, to descriptor: CInt) {
    var text = text
    text.withUTF8 { _ = write(descriptor, $0.baseAddress, $0.count) }
  }
}
