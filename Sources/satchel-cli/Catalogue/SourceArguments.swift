import ArgumentParser
import Satchel

/// The arguments of commands that ask a server for content.
struct SourceArguments: ParsableArguments {
  @Option(
    name: [.customLong("from"), .customLong("url")],
    help: ArgumentHelp("The base URL of the server.", valueName: "url"))
  var url: String

  @Option(
    help: ArgumentHelp("A header of each request, \"Name: value\"; may be repeated.", valueName: "header"))
  var header: [String] = []

  @Option(
    help: ArgumentHelp("Trust the certificates in this file instead of the system's.", valueName: "file"),
    completion: .file(extensions: ["pem", "crt"]))
  var caFile: String?

  func validate() throws {
    if header.contains(where: { !$0.contains(":") }) {
      throw ValidationError("--header: a header is \"Name: value\"")
    }
  }

  func source() throws -> HTTPSource {
    let headers = header.map { line in
      let colon = line.firstIndex(of: ":") ?? line.endIndex
      let value = line[colon...].dropFirst().drop { $0 == " " }
      return (name: String(line[..<colon]), value: String(value))
    }
    var connection = HTTPSourceOptions()
    connection.caFile = caFile
    return try HTTPSource(baseURL: url, headers: headers, options: connection)
  }
}
