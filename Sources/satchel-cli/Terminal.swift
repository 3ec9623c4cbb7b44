import ArgumentParser
import Satchel

/// What the tool says, and how it ends.
enum Terminal {
  /// Something wants attention, or nothing was found.
  static let attention = ExitCode(1)

  static func print(json: JSONValue) throws { Swift.print(try json.plainText) }

  /// A line on the standard error, for people.
  static func complain(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }
    var line = "satchel: \(lines.joined(separator: "\n"))\n"
    // Nothing is to be done when even the complaint cannot be written.
    _ = line.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  /// Ends the tool as an error wants it: with help or the version, with a command's own exit code, or with 2.
  static func finish(with error: any Error) -> Never {
    if let code = error as? ExitCode { exit(code.rawValue) }
    if let error = error as? SatchelError {
      complain(error.message.printable)
      exit(2)
    }
    // What was typed wrong is repeated in it.
    let text = SatchelTool.fullMessage(for: error)
    if SatchelTool.exitCode(for: error) == .success {
      Swift.print(text)
      exit(0)
    }
    complain(text.hasPrefix("Error: ") ? String(text.dropFirst(7)) : text)
    exit(2)
  }

  /// A time for people, in UTC: "2026-03-14 09:26".
  static func time(_ milliseconds: Int64) -> String { time(seconds: milliseconds / 1000) }

  /// The same of Unix seconds; the number itself when no calendar reaches that far.
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

  /// "1 section", "2 sections".
  static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    "\(number) \(number == 1 ? one : many ?? one + "s")"
  }

  /// A number of bytes for people: "512 bytes", "3.4 MB".
  static func bytes(_ number: Int64) -> String {
    var (value, unit) = (Double(number), "")
    for name in ["kB", "MB", "GB", "TB"] where value >= 999.95 { (value, unit) = (value / 1000, name) }
    guard !unit.isEmpty else { return number == 1 ? "1 byte" : "\(number) bytes" }
    let tenths = Int64((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) \(unit)"
  }

  /// Rows of figures, flush right, and words in the last column, where their width does no harm.
  static func figures(_ rows: [[String]]) -> String {
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

  /// Rows with their columns below each other, the last one ragged.
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
