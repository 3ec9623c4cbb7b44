import Satchel

/// The commands that the demo prints: each works as it is printed, in the directory that the demo was started in.
struct DemoCommands {
  let folder: DemoFolder

  private var list: [(title: String, command: String)] {
    let guide = word(folder.file("guide.satchel"))
    let album = word(folder.file("album"))
    let phone = word(folder.file("planner/phone.satchel"))
    let remote = word(folder.file("planner/remote"))
    let tool = word(CommandLine.arguments.first ?? "satchel")
    let sync = "\(tool) sync \(phone) --user ana --remote \(remote)"
    return [
      (
        "What to eat in Porto, as the guide has it offline",
        "\(tool) catalogue show \(guide) --place PT/Porto --section cuisine"
      ),
      (
        "The photos of June 2026",
        "\(tool) photos query \(guide) \(album) --from 2026-06 --to 2026-06 --order photodate"
      ),
      (
        "Laptop and phone changed different fields of one task: the phone gets both",
        "\(sync) && \(tool) records get \(phone) tasks essay"
      ),
      ("Two slips of an author's pen, with their lines", "\(tool) story lint \(word(folder.file("tales")))"),
      (
        "All that the guide's store has, as a page for the browser",
        "\(tool) report \(guide) -o \(word(folder.file("report.html")))"
      ),
    ]
  }

  var text: String {
    let name = folder.path
    let commands = list.map { "# \($0.title)\n\($0.command)\n" }.joined(separator: "\n")
    return "\(name): a guide, an album, a planner on two devices, and two tales. Try:\n\n\(commands)"
  }

  var json: JSONValue {
    let commands = list.map { ["title": .string($0.title), "command": .string($0.command)] as JSONValue }
    return ["folder": .string(folder.path), "commands": .array(commands)]
  }

  /// Quotes a word for a POSIX shell, if necessary.
  private func word(_ text: String) -> String {
    let plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+,:@%".utf8
    if !text.isEmpty, text.utf8.allSatisfy({ plain.contains($0) }) { return text }
    let parts = text.split(separator: "'", omittingEmptySubsequences: false)
    return "'\(parts.joined(separator: #"'\''"#))'"
  }
}
