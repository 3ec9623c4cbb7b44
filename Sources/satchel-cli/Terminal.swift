import ArgumentParser
import Satchel

/// What the tool says, and how it ends.
enum Terminal {
  /// Something wants attention, or nothing was found.
  static let attention = ExitCode(1)

  static func print(json: JSONValue) throws { Swift.print(try json.text) }

  /// A line on the standard error, for people.
  static func complain(_ text: String) {
    var line = "satchel: \(text)\n"
    // Nothing is to be done when even the complaint cannot be written.
    _ = line.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  /// Ends the tool as an error wants it: with help or the version, with a command's own exit code, or with 2.
  static func finish(with error: any Error) -> Never {
    if let code = error as? ExitCode { exit(code.rawValue) }
    if let error = error as? SatchelError {
      complain(error.message)
      exit(2)
    }
    let text = SatchelTool.fullMessage(for: error)
    if SatchelTool.exitCode(for: error) == .success {
      Swift.print(text)
      exit(0)
    }
    complain(text.hasPrefix("Error: ") ? String(text.dropFirst(7)) : text)
    exit(2)
  }

  /// A time for people, in UTC: "2026-03-14 09:26".
  static func time(_ milliseconds: Int64) -> String {
    var seconds = time_t(milliseconds / 1000)
    var parts = tm()
    var buffer = [UInt8](repeating: 0, count: 64)
    guard gmtime_r(&seconds, &parts) != nil else { return "\(milliseconds)" }
    let count = buffer.withUnsafeMutableBytes {
      strftime($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, "%Y-%m-%d %H:%M", &parts)
    }
    return String(decoding: buffer.prefix(count), as: UTF8.self)
  }

  /// "1 section", "2 sections".
  static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    "\(number) \(number == 1 ? one : many ?? one + "s")"
  }

  /// Rows with their columns below each other, the last one ragged.
  static func table(_ rows: [[String]]) -> String {
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
