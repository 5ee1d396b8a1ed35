# neardup.ps1 - completion for PowerShell: neardup itself says what could stand next
#
# In $PROFILE:  . PATH/TO/neardup.ps1
Register-ArgumentCompleter -Native -CommandName neardup, neardup.exe -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $elements = @($commandAst.CommandElements | Where-Object { $_.Extent.StartOffset -lt $cursorPosition })
    $program = $elements[0].Extent.Text
    $words = @($elements | Select-Object -Skip 1 | ForEach-Object { $_.Extent.Text })
    # What is being typed is the last word, and an empty one behind a space.
    if ($words.Count -gt 0 -and $elements[-1].Extent.EndOffset -ge $cursorPosition) {
        $words = @($words | Select-Object -SkipLast 1)
    }
    # PowerShell before 7.3 leaves empty arguments out unless they are quoted twice.
    $current = $wordToComplete
    if ($current -eq '' -and ($null -eq $PSNativeCommandArgumentPassing -or $PSNativeCommandArgumentPassing -eq 'Legacy')) {
        $current = '""'
    }
    # Behind --option= only the value is offered.
    $before = if ($wordToComplete -match '^(--[^=]*=)') { $Matches[1] } else { '' }
    & $program complete @words $current 2>$null | ForEach-Object {
        $text, $about = $_ -split "`t", 2
        if (-not $about) { $about = $text }
        [System.Management.Automation.CompletionResult]::new("$before$text", $text, 'ParameterValue', $about)
    }
}
